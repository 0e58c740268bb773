#!/usr/bin/env python3
"""program_rounds.py [N] [SUPERPROFILER]: N rounds (1000) on programs that start others: a shell with pipelines,
make, a server that forks for each request. In turn superprofiler launches one or attaches to it, in default mode,
with -a, -n and --single, and is let end, interrupted or killed by SIGKILL at a random moment. Each program must end with
status 0 and say the right thing; its session must have no process left and no stopped thread, and, once
superprofiler is gone, the code of its processes must be that of their files. SUPERPROFILER defaults to the one of
build/release."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from processes import changed_bytes, end_session, processes_in

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODES = ([], ["-a"], ["-n"], ["--single"])
SHELL = "i=0; while [ $i -lt 12 ]; do echo $i | cat | wc -c >/dev/null; /bin/true; i=$((i + 1)); done; echo $i"
SERVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
static long sum(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i; return s; }
int main(void) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  socklen_t size = sizeof(sa_family_t);  // the kernel chooses a name
  int listening = socket(AF_UNIX, SOCK_STREAM, 0), right = 0;
  if (bind(listening, (struct sockaddr*)&at, size) || listen(listening, 8)) return 1;
  size = sizeof at;
  if (getsockname(listening, (struct sockaddr*)&at, &size)) return 1;
  for (long i = 0; i < 40; ++i) {
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(client, (struct sockaddr*)&at, size)) return 1;
    int accepted = accept(listening, 0, 0);
    if (fork() == 0) {
      long answer = sum(i * 100);
      _exit(write(accepted, &answer, sizeof answer) != sizeof answer);
    }
    close(accepted);
    long answer = -1;
    right += read(client, &answer, sizeof answer) == sizeof answer && answer == sum(i * 100);
    close(client);
    wait(0);
  }
  printf("%d\n", right);
}
"""
MAKEFILE = "all: a b c d\n\t@cat a b c d | wc -l\na b c d:\n\t@seq 1 30 | sort -r > $@\n.PHONY: all a b c d\n"
PROGRAMS = {
    "shell": (["/bin/sh", "-c", SHELL], "12"),
    "make": (["make", "-s", "-j2"], "120"),
    "server": (["./server"], "40"),
}


def round_of(number, superprofiler, directory):
    kind = list(PROGRAMS)[number % 3]
    mode = MODES[number // 3 % 4]
    attaches = number // 12 % 2 == 1
    end = ("ends", "killed", "interrupted")[number // 24 % 3]
    command, answer = PROGRAMS[kind]
    ours = [superprofiler, "-q", *mode, "-o", directory, "--name", "run", "--overwrite"]
    quiet = {"cwd": directory, "stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    complaints = []
    output = open(f"{directory}/answer", "w+")
    if attaches:
        target = subprocess.Popen(command, stdout=output, start_new_session=True, **quiet)
        session = target.pid
        time.sleep(random.uniform(0, 0.05))
        profiler = subprocess.Popen([*ours, "--follow", "all", "-p", str(target.pid)], start_new_session=True,
                                    stdout=subprocess.DEVNULL, **quiet)
    else:
        profiler = target = subprocess.Popen([*ours, "--", *command], stdout=output, start_new_session=True, **quiet)
        session = target.pid
    if end != "ends":
        time.sleep(random.uniform(0, 0.25))
        profiler.send_signal(signal.SIGKILL if end == "killed" else signal.SIGTERM)
        profiler.wait()
        time.sleep(0.1)  # for the guardian
        for pid in processes_in(session):
            if open_changed := changed_bytes(pid):
                time.sleep(1)  # a child that was just forked goes on by itself, from its journal
                open_changed = changed_bytes(pid)
                complaints += [f"{open_changed} bytes are changed in {pid}"] if open_changed else []
    status = None
    try:
        status = target.wait(120 if not mode or mode == ["-n"] else 1200)  # counting takes long
    except subprocess.TimeoutExpired:
        complaints.append("it hangs: " + str(processes_in(session)))
    if left := end_session(session, 60):
        complaints.append(f"left: {left}")
    profiler.wait(60)
    output.seek(0)
    said = output.read().strip()
    ended = attaches or end == "ends"
    if (ended and status != 0) or (said != answer and (said or ended)):
        complaints.append(f"status {status}, said {said!r}")
    where = f"round {number}: {kind} {' '.join(mode) or 'default'} {'attached' if attaches else 'launched'}, {end}"
    for complaint in complaints:
        print(f"{where}: {complaint}", flush=True)
    return not complaints


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    superprofiler = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/release/src/superprofiler")
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "Makefile").write_text(MAKEFILE)
        pathlib.Path(directory, "server.c").write_text(SERVER)
        subprocess.run(["cc", "-O1", "-o", "server", "server.c"], cwd=directory, check=True)
        failed = sum(not round_of(number, superprofiler, directory) for number in range(rounds))
    print(f"{rounds} rounds, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
