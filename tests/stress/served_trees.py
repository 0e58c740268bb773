#!/usr/bin/env python3
"""served_trees.py [--seconds N] [SUPERPROFILER] [redis|postgres..]: a server under load for N seconds (60) with --tree,
some of its functions chosen by --filters, what is new emitted each second to a reader that dies and comes back. Says
whether what the reader has added up is tree.json, whether all requests were answered, and what requests took alone and
with the tree. Needs redis-server, redis-tools; postgresql. SUPERPROFILER defaults to the one of build/release."""

import glob
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
sys.setrecursionlimit(100000)


class Reader(threading.Thread):
    """Reads for some seconds, closes in the middle of whatever comes, is away, and listens again."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.seen = set()
        self.calls = self.samples = self.deaths = self.profiles = self.again = 0
        self.ends = False
        self.listener = None
        self.listen()

    def listen(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen()
        self.listener.settimeout(0.2)

    def add(self, node):
        self.calls += int(node.get("nCalls", 0))
        self.samples += int(node.get("self", 0))
        for callee in node.get("callees", []):
            self.add(callee)

    def take(self, line):
        value = json.loads(line)
        if value["type"] != "profile":
            return
        if value["data"]["seq"] in self.seen:
            self.again += 1
            return
        self.seen.add(value["data"]["seq"])
        self.profiles += 1
        self.add(value["data"]["tree"])

    def serve(self, connection):
        until = time.monotonic() + random.uniform(1, 6)
        connection.settimeout(0.2)
        rest = b""
        while self.ends or time.monotonic() < until:
            try:
                piece = connection.recv(random.choice([100, 65536]))
            except TimeoutError:
                continue
            if not piece:
                return self.ends
            rest += piece
            *lines, rest = rest.split(b"\n")
            for line in lines:
                self.take(line)
        return False

    def run(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except TimeoutError:
                continue
            if self.serve(connection):
                return
            self.deaths += 1
            self.listener.close()
            connection.close()
            os.unlink(self.path)
            if not self.ends:
                time.sleep(random.uniform(0.5, 4))
            self.listen()


def totals(node):
    calls, samples = int(node.get("nCalls", 0)), int(node.get("self", 0))
    for callee in node.get("callees", []):
        more = totals(callee)
        calls, samples = calls + more[0], samples + more[1]
    return calls, samples


class Redis:
    rules = "[[block]]\n[[allow]]\nfunction_linkage_name = '(call|processCommand|.*Command|readQueryFromClient)'\n"

    def start(self, directory):
        self.socket = directory + "/redis"
        self.process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", ""],
                                        cwd=directory, stdout=subprocess.DEVNULL)
        while not os.path.exists(self.socket):
            time.sleep(0.05)
        return self.process.pid

    def load(self, seconds):
        """Requests, and one line that says what they took."""
        until = time.monotonic() + seconds
        done, worst, rates = 0, 0.0, []
        while time.monotonic() < until:
            text = subprocess.run(["redis-benchmark", "-s", self.socket, "-t", "set,get,lpush", "-n", "50000", "-c", "20",
                                   "--csv"], capture_output=True, text=True, check=True).stdout
            for row in text.splitlines()[1:]:
                cells = [cell.strip('"') for cell in row.split(",")]
                done += 50000
                rates.append(float(cells[1]))
                worst = max(worst, float(cells[7]))
        errors = subprocess.run(["redis-cli", "-s", self.socket, "info", "errorstats"], capture_output=True, text=True)
        failed = len(re.findall("errorstat", errors.stdout))
        return done, failed, f"{sum(rates) / len(rates):,.0f} requests/s, the longest took {worst:.1f} ms"

    def stop(self):
        self.process.terminate()
        return self.process.wait(20)


class Postgres:
    rules = "[[block]]\n[[allow]]\nfunction_linkage_name = '(exec_.*|Executor.*|heap_.*|PortalRun|GetTransactionSnapshot)'\n"

    def start(self, directory):
        self.tools = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.where = directory + "/data"
        os.makedirs(self.where)
        os.chown(self.where, 65534, 65534)
        self.environment = dict(os.environ, PGHOST=self.where, PGUSER="sp")
        subprocess.run([*NOBODY, self.tools + "/initdb", "-D", self.where, "-A", "trust", "-U", "sp", "-N"], check=True,
                       stdout=subprocess.DEVNULL, cwd=directory)
        self.process = subprocess.Popen([*NOBODY, self.tools + "/postgres", "-D", self.where, "-k", self.where, "-c",
                                         "listen_addresses="], cwd=directory, stderr=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL)
        while subprocess.run(["pg_isready", "-q"], env=self.environment).returncode != 0:
            time.sleep(0.1)
        subprocess.run([self.tools + "/pgbench", "-i", "-q", "-s", "2", "postgres"], env=self.environment, check=True,
                       capture_output=True)
        return self.process.pid

    def load(self, seconds):
        """New connections now and then, so that backends are forked while the tree is on."""
        until = time.monotonic() + seconds
        done = failed = 0
        latencies = []
        while time.monotonic() < until:
            text = subprocess.run([self.tools + "/pgbench", "-n", "-c", "4", "-j", "2", "-T", "5", "postgres"],
                                  env=self.environment, capture_output=True, text=True, check=True).stdout
            done += int(re.search(r"actually processed: (\d+)", text).group(1))
            failed += int(re.search(r"failed transactions: (\d+)", text).group(1))
            latencies.append(float(re.search(r"latency average = ([\d.]+)", text).group(1)))
        return done, failed, f"{done / seconds:,.0f} transactions/s, {sum(latencies) / len(latencies):.2f} ms on average"

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


def check(name, server, superprofiler, seconds):
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        pid = server.start(directory)
        alone = server.load(min(seconds, 15))
        reader = Reader(directory + "/reader")
        reader.start()
        pathlib.Path(directory + "/filters").write_text(server.rules)
        ours = subprocess.Popen([superprofiler, "-q", "--tree", "--filters", directory + "/filters", "--emit",
                                 "unix:" + reader.path, "--emit-every", "1s", "-o", directory, "--name", "run",
                                 "--follow", "all", "-p", str(pid)], stderr=subprocess.PIPE, text=True)
        loaded = server.load(seconds)
        reader.ends = True
        time.sleep(5)  # it is there at the end
        ours.send_signal(signal.SIGINT)
        status = ours.wait(60)
        said = ours.stderr.read().strip()
        reader.join(10)
        after = server.load(min(seconds, 15))
        ended = server.stop()
        tree = json.load(open(directory + "/run/tree.json"))
        run = json.load(open(directory + "/run/run.json"))
        calls, samples = totals(tree["tree"])
        failures += [f"superprofiler ended with {status}"] if status != 0 else []
        failures += [f"the server ended with {ended}"] if ended not in (0, -2) else []
        for what, (_, failed, _) in (("alone", alone), ("with the tree", loaded), ("afterwards", after)):
            failures += [f"{failed} requests failed {what}"] if failed else []
        for what, sent, kept in (("calls", reader.calls, calls), ("samples", reader.samples, samples)):
            failures += [f"the reader has {sent} {what}, tree.json {kept}"] if sent != kept else []
        print(f"{name}: {calls:,} calls ({tree['calls']['kind']}), {samples:,} samples, {run['trace']['lost']} events lost, "
              f"in {reader.profiles} profiles, {reader.again} sent again; the reader died {reader.deaths} times")
        print(f"  alone           {alone[2]}\n  with the tree   {loaded[2]}\n  afterwards      {after[2]}\n"
              f"  cost said       {run['cost']['overhead_percent']:.0f} %, {run['trace']['functions_too_hot']} functions "
              "not to the end")
        if said:
            print("  " + said.replace("\n", "\n  "))
        for failure in failures:
            print(f"  FAILED: {failure}")
    return not failures


def main():
    words = sys.argv[1:]
    seconds = 60
    if words[:1] == ["--seconds"]:
        seconds = float(words[1])
        words = words[2:]
    servers = {"redis": Redis, "postgres": Postgres}
    named = [word for word in words if word in servers] or list(servers)
    programs = [word for word in words if word not in servers]
    superprofiler = os.path.abspath(programs[0] if programs else ROOT / "build/release/src/superprofiler")
    results = [check(name, servers[name](), superprofiler, seconds) for name in named]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
