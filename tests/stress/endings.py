#!/usr/bin/env python3
"""endings.py [ROUNDS] [SUPERPROFILER]: how long an attached run takes to end once it is told to: by SIGINT, by SIGTERM,
and by --duration. In each of ROUNDS (10) rounds superprofiler attaches to programs that fork or exec without pause, in
default mode, with -a, -n and --single. Prints medians and maxima in milliseconds, and fails where an end takes more than
0.3 s, or the program is stopped, traced or gone afterwards."""

import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODES = ([], ["-a"], ["-n"], ["--single"])
PROGRAMS = {
    "forks": ["python3", "-c", "import os\nwhile True:\n  p = os.fork()\n  if not p: os._exit(0)\n  os.waitpid(p, 0)"],
    "shell": ["sh", "-c", "while :; do /bin/true | cat; done"],
    "execs": ["sh", "-c", 'exec sh -c "$0" "$0"', 'exec sh -c "$0" "$0"'],
    "dies": ["python3", "-c",
             "import os, signal\nwhile True:\n  p = os.fork()\n  if not p: os.execv('/bin/true', ['true'])\n"
             "  os.kill(p, signal.SIGKILL)\n  os.waitpid(p, 0)"],
}


def status(pid, field):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return line.split(":", 1)[1].strip()
    return ""


def end_once(profiler, mode, how, pid, folder):
    """Milliseconds from being told until the end."""
    duration = 0.4
    words = [profiler, "-q", "--overwrite", "-o", folder, "--name", "e", "--follow", "all", *mode, "-p", str(pid)]
    if how == "duration":
        words += ["-d", f"{duration}s"]
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    told = None
    if how == "duration":
        while status(pid, "TracerPid") == "0" and running.poll() is None:
            time.sleep(0.001)
        told = time.monotonic() + duration
    else:
        time.sleep(0.5)
        told = time.monotonic()
        running.send_signal(how)
    while running.poll() is None:  # wait() with a limit looks every 50 ms
        if time.monotonic() > told + 30:
            running.kill()
            running.wait()
            return float("inf")
        time.sleep(0.002)
    return max(time.monotonic() - told, 0) * 1000 if running.returncode == 0 else float("nan")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    profiler = sys.argv[2] if len(sys.argv) > 2 else str(ROOT / "build/release/src/superprofiler")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, command in PROGRAMS.items():
            for mode in MODES:
                times = {signal.SIGINT: [], signal.SIGTERM: [], "duration": []}
                left = 0
                for _ in range(rounds):
                    for how, taken in times.items():
                        target = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
                        time.sleep(0.1)
                        taken.append(end_once(profiler, mode, how, target.pid, folder))
                        left += target.poll() is not None or status(target.pid, "TracerPid") != "0"
                        os.killpg(target.pid, signal.SIGKILL)
                        target.wait()
                texts = []
                for how, taken in times.items():
                    failed += not max(taken) <= 300
                    label = how if how == "duration" else signal.Signals(how).name
                    texts.append(f"{label} {statistics.median(taken):.0f} (most {max(taken):.0f})")
                failed += left
                print(f"{name:6} {' '.join(mode) or 'default':9} {', '.join(texts)}" + (f", {left} WRONG" if left else ""),
                      flush=True)
    print(f"{failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
