#!/usr/bin/env python3
"""copy_rounds.py [ROUNDS] [SUPERPROFILER]: programs whose functions are moved into copies and back, ROUNDS (200) times
each, with -a. A redis-server under load is attached to and left, or superprofiler is killed there by SIGKILL at a random
moment; the same with eight threads of tests/targets/tells_base; sqlite3 is launched and superprofiler killed. After each
round the server must answer, the code of the program must be its file's and nobody may trace it; the load must get right
answers all the time, sqlite3 and the threads must say the right thing. SUPERPROFILER defaults to the one of
build/release; the built tests/targets are looked for in build/dev."""

import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from processes import await_end, changed_bytes

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERY = ("with recursive n(i, s) as (select 1, 7 union all select i + 1, (s * 31 + i) % 65521 from n where i < 400000) "
         "select count(*), sum(s), max(s) from n;")


def field(pid, name):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(name + ":"):
            return line.split()[1]
    return "?"


def await_clean(pid, seconds=5):
    """What is wrong with the program, which we have left."""
    deadline = time.monotonic() + seconds
    while True:
        differ = changed_bytes(pid)
        wrong = [f"{differ} bytes of its code differ"] if differ else []
        wrong += ["it is traced"] if field(pid, "TracerPid") != "0" else []
        wrong += [f"state {field(pid, 'State')}"] if field(pid, "State") in "Tt" else []
        if not wrong or time.monotonic() > deadline:
            return wrong
        time.sleep(0.01)


class Redis:
    def __init__(self, directory):
        self.path = f"{directory}/redis.sock"
        self.server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", self.path, "--save", ""],
                                       stdout=subprocess.DEVNULL, cwd=directory)
        while not os.path.exists(self.path):
            time.sleep(0.01)
        time.sleep(0.1)  # it does not listen yet
        self.pid = self.server.pid
        self.answers = 0
        self.wrong = []
        self.over = False
        self.load = threading.Thread(target=self.ask)
        self.load.start()

    def ask(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(10)
        client.connect(self.path)
        number = 0
        while not self.over:
            number += 1
            value = str(number * 7919)
            words = ["SET", f"k{number % 99}", value]
            for words, expected in ((words, b"+OK\r\n"),
                                    (["GET", words[1]], f"${len(value)}\r\n{value}\r\n".encode())):
                text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
                client.sendall(text.encode())
                try:
                    answer = client.recv(4096)
                except TimeoutError:
                    answer = b"none in 10 s"
                if answer != expected:
                    self.wrong.append(answer)
                    return
            self.answers = number

    def end(self):
        self.over = True
        self.load.join()
        self.server.kill()
        self.server.wait()
        os.unlink(self.path)


def visit(superprofiler, directory, pid, kills):
    """Attaches for at most half a second; ends as told, or is killed."""
    length = random.uniform(0.02, 0.5)
    options = ["-q", "-a", "-o", directory, "--name", "run", "--overwrite"]
    options += [] if kills else ["-d", f"{length:.3f}"]
    profiler = subprocess.Popen([superprofiler, *options, "-p", str(pid)], stderr=subprocess.PIPE)
    if kills:
        time.sleep(length)
        profiler.kill()
    said = profiler.communicate(timeout=60)[1].decode().strip()
    fine = profiler.returncode == (-signal.SIGKILL if kills else 0)
    return [] if fine else [f"it ended with {profiler.returncode}: {said}"]


def visit_redis(superprofiler, directory, rounds, kills):
    redis = Redis(directory)
    failures = []
    for number in range(rounds):
        before = redis.answers
        wrong = visit(superprofiler, directory, redis.pid, kills) + await_clean(redis.pid)
        time.sleep(0.02)
        wrong += ["it answers no more"] if redis.answers == before else []
        failures += [f"round {number}: {what}" for what in wrong]
        if redis.wrong or redis.server.poll() is not None:
            failures.append(f"round {number}: answers {redis.wrong}, status {redis.server.poll()}")
            break
    redis.end()
    return failures


def visit_threads(superprofiler, directory, rounds, kills):
    failures = []
    for number in range(rounds):
        program = subprocess.Popen([ROOT / "build/dev/tests/targets/tells_base", "8"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        program.stdout.readline()
        wrong = visit(superprofiler, directory, program.pid, kills) + await_clean(program.pid)
        said = program.communicate(b"\n", timeout=60)[0].decode()
        wrong += [] if said.endswith("right\n") and program.returncode == 0 else [f"{program.returncode}: {said}"]
        failures += [f"round {number}: {what}" for what in wrong]
    return failures


def kill_sqlite(superprofiler, directory, rounds):
    expected = subprocess.run(["sqlite3", ":memory:", QUERY], capture_output=True, check=True).stdout
    failures = []
    for number in range(rounds):
        with open(f"{directory}/answer", "wb") as answer:
            profiler = subprocess.Popen([superprofiler, "-q", "-a", "-o", directory, "--name", "run", "--overwrite", "--",
                                         "sqlite3", ":memory:", QUERY], stdout=answer, start_new_session=True)
        time.sleep(random.uniform(0, 0.6))
        profiler.kill()
        profiler.wait()
        left = await_end(profiler.pid, 60)
        said = pathlib.Path(f"{directory}/answer").read_bytes()
        if said != expected and said != b"":  # b"": killed before there was a target
            failures.append(f"round {number}: {said!r}")
        if left:
            failures.append(f"round {number}: it hangs")
    return failures


def main():
    words = sys.argv[1:]
    rounds = int(words.pop(0)) if words and words[0].isdigit() else 200
    superprofiler = os.path.abspath(words[0] if words else ROOT / "build/release/src/superprofiler")
    for program in ("redis-server", "sqlite3"):
        if shutil.which(program) is None:
            sys.exit(f"copy_rounds.py: install {program}")
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        ways = {"redis, left": lambda: visit_redis(superprofiler, directory, rounds, False),
                "redis, killed": lambda: visit_redis(superprofiler, directory, rounds, True),
                "eight threads, left": lambda: visit_threads(superprofiler, directory, rounds, False),
                "eight threads, killed": lambda: visit_threads(superprofiler, directory, rounds, True),
                "sqlite3, killed": lambda: kill_sqlite(superprofiler, directory, rounds)}
        for name, way in ways.items():
            failures = way()
            failed += len(failures)
            for failure in failures:
                print(f"{name}: {failure}", flush=True)
            print(f"{name}: {rounds} rounds, {len(failures)} failed", flush=True)
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
