#!/usr/bin/env python3
"""switch_rounds.py SUPERPROFILER PROGRAM [ROUNDS] [--kill]: switches a trace off and on again and
again while eight threads of tests/targets/switched_calls call functions and change their masks.
While it is off the program's text must be its file's; the program must end with 0. --kill: ends
superprofiler with SIGKILL at a random moment, and begins again, every 50 rounds; then nobody looks at
masks, of which SIGTRAP is lost when nobody is left to put it back."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time


def text_of(pid):
    """(what is mapped, what the file has) of the program's code."""
    exe = os.readlink(f"/proc/{pid}/exe")
    for line in open(f"/proc/{pid}/maps"):
        words = line.split()
        if len(words) > 5 and words[5] == exe and "x" in words[1]:
            begin, end = (int(word, 16) for word in words[0].split("-"))
            with open(f"/proc/{pid}/mem", "rb", 0) as memory:
                memory.seek(begin)
                mapped = memory.read(end - begin)
            with open(exe, "rb") as file:
                file.seek(int(words[2], 16))
                expected = file.read(end - begin)
            return mapped[: len(expected)], expected
    sys.exit("the program has no code")


class Run:
    """A superprofiler that is attached to the program."""

    def __init__(self, superprofiler, pid, folder, number):
        self.path = f"{folder}/control"
        self.process = subprocess.Popen(
            [superprofiler, "-q", "--trace", "-a", "--when-full", "keep", "--start-off",
             "--control", self.path, "-o", folder, "--name", f"run{number}", "-p", str(pid)])
        deadline = time.monotonic() + 60
        while True:
            self.client = socket.socket(socket.AF_UNIX)
            try:
                self.client.connect(self.path)
                break
            except OSError:
                if time.monotonic() > deadline:
                    sys.exit("no socket")
                time.sleep(0.01)
        self.lines = self.client.makefile("rw")

    def tell(self, command):
        self.lines.write(command + "\n")
        self.lines.flush()
        answer = json.loads(self.lines.readline())
        if not answer["ok"]:
            sys.exit(f"{command}: {answer}")
        return answer


def main():
    words = [word for word in sys.argv[1:] if word != "--kill"]
    kills = "--kill" in sys.argv
    rounds = int(words[2]) if len(words) > 2 else 1000
    program = subprocess.Popen([words[1], "8"] + kills * ["plain"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    program.stdout.readline()
    with tempfile.TemporaryDirectory() as folder:
        run, runs, waited = None, 0, 0
        for number in range(rounds):
            if run is None:
                run, runs = Run(words[0], program.pid, folder, runs), runs + 1
            begin = time.monotonic()
            if not run.tell("on")["on"]:
                sys.exit("it is not on")
            waited += time.monotonic() - begin
            mapped, expected = text_of(program.pid)
            if mapped == expected:
                sys.exit("nothing is planted")
            if kills and number % 50 == 49:
                time.sleep(random.random() / 20)
                os.kill(run.process.pid, signal.SIGKILL)
                run.process.wait()
                run = None
                time.sleep(0.2)
            else:
                run.tell("off")
            mapped, expected = text_of(program.pid)
            if mapped != expected:
                sys.exit(f"round {number}: bytes are left")
        if run is not None:
            status = run.tell("status")
            print(f"{status['events']} events, off {status['times_off']} times")
            run.tell("stop")
            if run.process.wait(60) != 0:
                sys.exit(f"superprofiler ended with {run.process.returncode}")
    program.stdin.close()
    said = program.stdout.read()
    if program.wait(60) != 0:
        sys.exit(f"the program ended with {program.returncode}: {said}")
    print(f"{rounds} rounds, {1000 * waited / rounds:.2f} ms for on; the program is right")


main()
