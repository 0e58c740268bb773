#!/usr/bin/env python3
"""stressors.py [--modes MODE,...] [SUPERPROFILER] [NAME...]: runs every stressor of stress-ng (Debian package) that passes
natively, 1 s each with --verify, in default mode, -a, -n and --single, launched and attached. Each must
end with the status of the native run, leave no process, and be over in 1.5 times the native time + 1 s
(where counting is not the reason: -a and --single get ten times that and 30 s). SUPERPROFILER defaults to the one
of build/release. Stressors that end or reconfigure the machine are left out, and vm-segv, which traces its
own child (README, Limits), and nice, which lowers the priority of all its user's processes, this script's too. Run it as a user without privileges and with a /tmp of its own: forkheavy fills that. On a busy
machine what is late has to be run again alone."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from processes import end_session

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFAULT_MODES = {"default": [], "-a": ["-a"], "-n": ["-n"], "--single": ["--single"]}
MODES = {**DEFAULT_MODES, "--single=copies": ["--single=copies"], "--trace": ["--trace"], "--coverage": ["--coverage"]}
LEFT_OUT = {"cpu-online", "reboot", "watchdog", "smi", "sysinval", "rtc", "clock", "module", "oom-pipe",
            "vm-segv", "nice"}


def stressors():
    text = subprocess.run(["stress-ng", "--stressors"], capture_output=True, text=True).stdout
    return [name for name in text.split() if name not in LEFT_OUT]


def start(command, directory):
    return subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(process, patience):
    """Its status, or "late"; and what it left in its session."""
    try:
        status = process.wait(patience)
    except subprocess.TimeoutExpired:
        status = "late"
    left = end_session(process.pid, 2 if status != "late" else 0)
    process.wait()
    return status, left


def check(name, superprofiler, modes):
    command = ["stress-ng", f"--{name}", "1", "-t", "1", "--verify", "--temp-path", "."]
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        begin = time.monotonic()
        native, left = finish(start(command, directory), 30)
        took = time.monotonic() - begin
        if native != 0 or left:
            return None
        for mode in modes:
            options = MODES[mode]
            counts = mode not in ("default", "-n")
            patience = 10 * took + 30 if counts else 1.5 * took + 1
            ours = [superprofiler, "-q", *options, "-o", directory, "--name", "run", "--overwrite"]
            begin = time.monotonic()
            status, left = finish(start([*ours, "--", *command], directory), 10 * took + 30)
            seconds = time.monotonic() - begin
            failures += [f"{mode} launched: {status}"] if status != native else []
            failures += [f"{mode} launched: left {left}"] if left else []
            if status == native and seconds > patience:
                failures.append(f"{mode} launched: {seconds:.1f} s, alone {took:.1f} s")
            target = start(command, directory)
            time.sleep(0.3)
            profiler = start([*ours, "--follow", "all", "-p", str(target.pid)], directory)
            status, left = finish(target, patience + 1)
            failures += [f"{mode} attached: {status}"] if status != native else []
            failures += [f"{mode} attached: left {left}"] if left else []
            finish(profiler, 5)
    return failures


def main():
    if shutil.which("stress-ng") is None:
        sys.exit("stressors.py: install stress-ng")
    words = sys.argv[1:]
    modes = list(DEFAULT_MODES)
    if words[:1] == ["--modes"]:
        modes = words[1].split(",")
        words = words[2:]
    superprofiler = os.path.abspath(words[0] if words else ROOT / "build/release/src/superprofiler")
    names = words[1:] or stressors()
    tried = failed = 0
    for name in names:
        failures = check(name, superprofiler, modes)
        if failures is None:
            continue
        tried += 1
        failed += bool(failures)
        for failure in failures:
            print(f"{name}: {failure}", flush=True)
    print(f"{tried} stressors, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
