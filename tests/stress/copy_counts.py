#!/usr/bin/env python3
"""copy_counts.py [ROUNDS] [SUPERPROFILER]: counts that are known beforehand, of functions that run from copies (-a). ROUNDS
(50) times: 32 threads that add up; 1,000 forked children, eight of them at a time, that each call a function 10,000 times;
four threads that send one another signals while a timer sends them 10,000 a second. Every count must be what it is known to
be and of kind "exact", and most of them must come from copies. SUPERPROFILER defaults to the one of build/release; the built
tests/targets are looked for in build/dev; the forking program is compiled with cc."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ROOT / "build/dev/tests/targets"
ADDITIONS, CALLS, CHILDREN, SIGNALS = 100000, 10000, 1000, 2000
FORKS = """#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int done;
__attribute__((noinline, noclone)) void count_one(void) { ++done; }
static void work(void) { for (int i = 0; i < %d; ++i) count_one(); }
int main(void) {
  int bad = 0, alive = 0;
  work();
  for (int i = 0; i < %d; ++i) {
    const pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) { work(); _exit(7); }
    for (++alive; alive > (i + 1 < %d ? 7 : 0); --alive) {
      int status = 0;
      bad += wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 7;
    }
  }
  printf("%%d bad\\n", bad);
  return bad != 0;
}
""" % (CALLS, CHILDREN, CHILDREN)


def rows(path):
    lines = path.read_text().splitlines()
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"))) for line in lines[1:]]


def profile(superprofiler, directory, command):
    """Its stdout, what is wrong, and the rows of blocks.tsv of the program."""
    run = subprocess.run([superprofiler, "-q", "-a", "-o", directory, "--name", "run", "--overwrite", "--", *command],
                         capture_output=True, text=True)
    wrong = [] if run.returncode == 0 else [f"status {run.returncode}: {run.stdout} {run.stderr}"]
    files = pathlib.Path(directory, "run")
    copies = json.loads((files / "run.json").read_text())["probes"].get("copies", {})
    blocks = [row for row in rows(files / "blocks.tsv") if row["module"] == str(command[0])]
    wrong += [f"{row['function']}+{row['offset']}: {row['kind']}" for row in blocks if row["kind"] != "exact"]
    hits = sum(int(row["hits"]) for row in blocks)
    if copies.get("executions", 0) < hits / 2:
        wrong.append(f"{copies.get('executions')} of {hits} executions were counted in copies")
    return run.stdout, wrong, blocks


def most(blocks, function):
    return max((int(row["hits"]) for row in blocks if row["function"] == function), default=0)


def expect(what, count, expected):
    return [] if count == expected else [f"{what}: {count}, not {expected}"]


def add_up(superprofiler, directory):
    said, wrong, blocks = profile(superprofiler, directory, [TARGETS / "thread_sums", "32", str(ADDITIONS)])
    return wrong + expect("stdout", said, "right\n") + expect("add", most(blocks, "add"), 32 * ADDITIONS)


def fork(superprofiler, directory):
    program = pathlib.Path(directory, "forks")
    if not program.exists():
        subprocess.run(["cc", "-O2", "-x", "c", "-o", program, "-"], input=FORKS, text=True, check=True)
    said, wrong, blocks = profile(superprofiler, directory, [program])
    return (wrong + expect("stdout", said, "0 bad\n") +
            expect("count_one", most(blocks, "count_one"), (CHILDREN + 1) * CALLS))


def signal(superprofiler, directory):
    said, wrong, blocks = profile(superprofiler, directory, [TARGETS / "signal_storm", "4", str(SIGNALS), "100"])
    handlers = dict(zip(("on_own", "on_timer", "on_other", "work_a_little"), map(int, said.split())))
    for function, count in handlers.items():
        wrong += expect(function, most(blocks, function), count)
    return wrong + expect("on_own", handlers.get("on_own"), 4 * SIGNALS)


def main():
    words = sys.argv[1:]
    rounds = int(words.pop(0)) if words and words[0].isdigit() else 50
    superprofiler = os.path.abspath(words[0] if words else ROOT / "build/release/src/superprofiler")
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, way in {"32 threads": add_up, "1,000 forks": fork, "10,000 signals a second": signal}.items():
            failures = [f"round {number}: {what}" for number in range(rounds) for what in way(superprofiler, directory)]
            failed += len(failures)
            print(*(f"{name}: {failure}" for failure in failures), sep="\n", end="\n" if failures else "")
            print(f"{name}: {rounds} rounds, {len(failures)} failed", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
