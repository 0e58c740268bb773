#!/usr/bin/env python3
"""kill_points.py [--modes=MODE,...] [--programs=NAME,...] [--from N] [--seed N] [ROUNDS] [SUPERPROFILER]: kills
superprofiler right before its Nth call of ptrace(2), waitid(2) or pwrite(2), counted by a preloaded library, so that no
moment between two of its calls is missed as random times miss it: the first ROUNDS (300) calls one by one, then as many
others at random, for each program, mode and way (launched, attached). The programs (ways, shell) have frames that begin
with a push, threads, forks, handlers that block all signals; each must end and say the right thing, no child of its may
die, and no process may be left. SUPERPROFILER defaults to the one of build/release."""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

from processes import await_end

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODES = {"default": [], "-n": ["-n"], "-a": ["-a"], "--single": ["--single"], "--trace": ["--trace"],
         "--trace -a": ["--trace", "-a"], "--via int3": ["--trace", "-a", "--via", "int3"],
         "--coverage": ["--coverage=block"]}
SHELL = "i=0; while [ $i -lt 25 ]; do i=$((i + 1)); echo $i | cat | wc -c; done"
PROGRAMS = {
    "ways": (["./kill_ways", "150"], "right: 8 of 8 children, sums 9600 and 9600"),
    "shell": (["dash", "-c", SHELL], "\n".join(str(len(str(i)) + 1) for i in range(1, 26))),
}


class Kills:
    def __init__(self, superprofiler, directory):
        self.superprofiler, self.directory = superprofiler, directory
        self.failed = self.rounds = 0

    def run(self, program, mode, attaches, at):
        """Returns how many calls there were; complains about what was harmed."""
        command, answer = PROGRAMS[program]
        report = pathlib.Path(self.directory, "calls")
        report.unlink(missing_ok=True)
        environment = {**os.environ, "LD_PRELOAD": f"{self.directory}/killer.so", "KILL_AT": str(at),
                       "KILL_REPORT": str(report)}
        ours = [self.superprofiler, "-q", *MODES[mode], "-o", self.directory, "--name", "run", "--overwrite"]
        with open(f"{self.directory}/said", "w+") as said, open(f"{self.directory}/errors", "w+") as errors:
            where = {"cwd": self.directory, "stdin": subprocess.DEVNULL, "start_new_session": True}
            if attaches:
                target = subprocess.Popen(command, stdout=said, stderr=errors, **where)
                profiler = subprocess.Popen([*ours, "--follow", "all", "-p", str(target.pid)], env=environment,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **where)
            else:
                profiler = target = subprocess.Popen([*ours, "--", *command], env=environment, stdout=said,
                                                     stderr=errors, **where)
            profiler.wait()
            status = target.wait() if attaches and not await_end(target.pid, 120) else None
            left = await_end(target.pid, 120)
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            said.seek(0), errors.seek(0)
            answered, complained = said.read().strip(), errors.read().strip()
        self.rounds += 1
        never_began = not attaches and not answered and not complained and self.is_before_start(at)
        if left or complained or (not answered.startswith(answer) and not never_began) or status not in (0, None):
            self.failed += 1
            print(f"{program} {mode} {'attached' if attaches else 'launched'}, killed before call {at}: status {status}, "
                  f"left {left}, said {answered[-80:]!r}, {complained[-200:]!r}", flush=True)
        return int(report.read_text()) if report.exists() else 0

    @staticmethod
    def is_before_start(at):
        return 0 < at <= 40  # the program's exec has not been let go yet


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--modes", default=",".join(MODES))
    arguments.add_argument("--programs", default=",".join(PROGRAMS))
    arguments.add_argument("--from", dest="first", type=int, default=1)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("rounds", nargs="?", type=int, default=300)
    arguments.add_argument("superprofiler", nargs="?", default=str(ROOT / "build/release/src/superprofiler"))
    given = arguments.parse_args()
    random.seed(given.seed)
    with tempfile.TemporaryDirectory() as directory:
        targets = ROOT / "tests/targets"
        for options in (["-shared", "-fPIC", "-o", "killer.so", targets / "libraries/kills_at_call.c"],
                        ["-O1", "-fno-omit-frame-pointer", "-o", "kill_ways", targets / "kill_ways.c", "-lpthread"]):
            subprocess.run(["cc", *options], cwd=directory, check=True)
        kills = Kills(os.path.abspath(given.superprofiler), directory)
        for mode in given.modes.split(","):
            for program in given.programs.split(","):
                for attaches in (False, True):
                    begun = kills.failed
                    total = kills.run(program, mode, attaches, 0)
                    points = list(range(given.first, min(total, given.first + given.rounds - 1) + 1))
                    points += [random.randint(1, total) for _ in range(given.rounds)]
                    for at in points:
                        kills.run(program, mode, attaches, at)
                    print(f"{program} {mode} {'attached' if attaches else 'launched'}: {total} calls, {len(points)} kills, "
                          f"{kills.failed - begun} failed", flush=True)
    print(f"{kills.rounds} rounds, {kills.failed} failed")
    sys.exit(kills.failed != 0)


if __name__ == "__main__":
    main()
