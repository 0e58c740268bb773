"""What a session's processes are and how their code is: for the scripts of this folder."""

import os
import signal
import time


def processes_in(session):
    """Those that have not ended."""
    left = []
    for entry in os.listdir("/proc"):
        try:
            fields = open(f"/proc/{entry}/stat").read().rpartition(")")[2].split() if entry.isdigit() else []
        except OSError:
            continue
        if fields and int(fields[3]) == session and fields[0] not in "ZX":
            left.append(int(entry))
    return left


def await_end(session, seconds):
    """The processes that are left then."""
    deadline = time.monotonic() + seconds
    while (left := processes_in(session)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def end_session(session, patience):
    """Kills what is left after `patience` seconds, and returns it."""
    left = await_end(session, patience)
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return left


def changed_bytes(pid):
    """How many bytes of the code that a process has mapped from files are not those of the files; 0 if it has ended."""
    changed = 0
    try:
        maps = open(f"/proc/{pid}/maps").read().splitlines()
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for words in (line.split() for line in maps):
                if len(words) == 6 and "x" in words[1] and words[5].startswith("/"):
                    begin, end = (int(word, 16) for word in words[0].split("-"))
                    memory.seek(begin)
                    now = memory.read(end - begin)
                    with open(words[5], "rb") as file:
                        file.seek(int(words[2], 16))
                        was = file.read(end - begin)
                    changed += sum(a != b for a, b in zip(now, was)) if now[:len(was)] != was else 0
    except PermissionError:
        raise  # else nothing would ever be found
    except OSError:
        return 0  # it has ended or is in an exec
    return changed
