"""Reads superprofiler --emit: emit_reader.py SOCKET LINES [all|pause|dies|bytewise|pulls]

Adds the deltas of the profiles up, each number once, and prints the sums as JSON. All complete
lines go to the file LINES.
"""
import json
import socket
import sys
import time

path, lines_path, way = sys.argv[1:4]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
print("listening", flush=True)
sums = {"nCalls": 0, "self": 0}
seen = set()
log = open(lines_path, "w", buffering=1)


def add(node):
    for key in sums:
        sums[key] += int(node.get(key, 0))
    for callee in node.get("callees", []):
        add(callee)


def take(line):
    log.write(line.decode() + "\n")
    value = json.loads(line)
    if value["type"] == "profile" and value["data"]["seq"] not in seen:
        seen.add(value["data"]["seq"])
        add(value["data"]["tree"])
    return value["type"]


def read(connection, dies):
    """False: it died as it was told to."""
    rest = b""
    asked = 0
    if way == "pulls":
        connection.send(b"?")
        asked = 1
    while True:
        piece = connection.recv(1 if way == "bytewise" else 65536)
        if not piece:
            return True
        rest += piece
        while b"\n" in rest:
            line, rest = rest.split(b"\n", 1)
            kind = take(line)
            if way == "pause" and len(seen) == 1:
                time.sleep(1)
            if kind == "profile" and way == "pulls" and asked < 42:
                connection.send(b"?")
                asked += 1
        if dies and len(seen) >= 2:
            connection.recv(10)
            return False


sys.setrecursionlimit(10000)
dies = way == "dies"
while not read(listener.accept()[0], dies):
    dies = False
print(json.dumps(sums | {"profiles": len(seen)}))
