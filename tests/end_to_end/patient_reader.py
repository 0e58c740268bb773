"""Reads superprofiler --emit: patient_reader.py SOCKET LINES

Waits for the next connection whenever one breaks, until a line tells the end of the run. All complete lines go
to the file LINES.
"""
import json
import socket
import sys

path, lines_path = sys.argv[1:3]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
print("listening", flush=True)
log = open(lines_path, "w", buffering=1)


def is_end(line):
    value = json.loads(line)
    told = value["data"] if value["type"] == "event" else {}
    return value["type"] == "log" or "exit" in told or "signal" in told


def read(connection):
    """True: the run is over."""
    ends, rest = False, b""
    while piece := connection.recv(65536):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            log.write(line.decode() + "\n")
            ends = ends or is_end(line)
    return ends


sys.setrecursionlimit(100000)
while not read(listener.accept()[0]):
    pass
