#!/usr/bin/env python3
"""programs_of_others.py [--modes MODE,...] [--ways WAY,...] [--seconds N] [--limit N] [--perl-source DIR] [--list]
[SUPERPROFILER] [NAME...]: runs programs of others alone and under superprofiler, and compares stdout and status.

Modes: default, -a, -n, --single (default: these), --single=copies, --trace, --coverage. Ways (default: launched,attached):
  launched  superprofiler starts it
  attached  superprofiler attaches for N seconds (2), again and again, until it ends
  killed    attached, and superprofiler is killed at a random moment of these N seconds, again and again
  orphaned  launched, and superprofiler is killed at a random moment of the time that the program takes alone; its status
            is then not known
The name "small" stands for all of small_programs.py, which take a second or less each: run them with --limit 60.
Servers run under a load, whose output is compared too. A run may leave no more
processes in its session than a run alone. A run over --limit
seconds (900) is ended and said; so is a program that does not do the same twice alone. What is not installed is skipped,
with the name of its package: perl's own core tests need the folder of Debian's perl source (apt-get source perl), python3's
the package libpython3.11-testsuite; PERL_TESTS and PYTHON_TESTS in the environment choose others of them. SUPERPROFILER defaults to the one of build/release."""

import argparse
import dataclasses
import glob
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import small_programs
from processes import end_session, processes_in
from stressors import DEFAULT_MODES, MODES, ROOT, finish

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]


@dataclasses.dataclass
class Case:
    command: list  # words; {d} is the directory of the run
    needs: dict = dataclasses.field(default_factory=dict)  # program or file: its package
    prepare: str = ""  # a bash script, run in the directory before each run
    ready: str = ""  # for servers: a bash condition
    load: str = ""  # for servers: a bash script; the server is asked to end behind it
    stop: int = signal.SIGTERM
    environment: dict = dataclasses.field(default_factory=dict)
    ignore: str = ""  # lines of stdout that match are not compared


def bash(script, **others):
    return Case(["bash", "--norc", "-c", script], {"bash": "bash", **others.pop("needs", {})}, **others)


NODE = """const { Worker, isMainThread, parentPort } = require('worker_threads');
const crypto = require('crypto'), zlib = require('zlib');
function work(n) { let h = 0; for (let i = 0; i < n; i++) { const o = { a: i, b: [i, i * 7] }; h = (h * 31 + o.b[1] % 97 + (i % 7 ? o.a : 1)) | 0; } return h; }
if (isMainThread) {
  let left = 4, sum = 0;
  for (let i = 0; i < 4; i++) new Worker(__filename).on('message', m => { sum = (sum + m) | 0; if (--left === 0) {
    const t = zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(3e6, 'superprofiler'))).length;
    let caught = 0; for (let k = 0; k < 20000; k++) { try { null.x; } catch (e) { caught++; } }
    setTimeout(() => console.log(work(3e7), sum, t, caught, crypto.createHash('sha256').update('x'.repeat(1e6)).digest('hex')), 5); } });
} else { parentPort.postMessage(work(1e7)); }
"""

JAVA = """import java.util.*; import java.util.concurrent.*;
public class Work { static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
  public static void main(String[] a) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4); List<Future<Long>> all = new ArrayList<>();
    for (int t = 0; t < 8; t++) { final int seed = t; all.add(pool.submit(() -> { long s = seed; Map<Integer, String> m = new HashMap<>();
      for (int i = 0; i < 400000; i++) { s = s * 31 + i; m.put((int) (s & 1023), "v" + i); } return s + m.size(); })); }
    long sum = 0; for (Future<Long> f : all) sum += f.get(); pool.shutdown();
    int caught = 0; String none = sum == 1 ? "x" : null; for (int i = 0; i < 100000; i++) try { caught += none.length(); } catch (NullPointerException e) { ++caught; }
    int overflows = 0; try { depth(1 << 30); } catch (StackOverflowError e) { ++overflows; }
    System.out.println(sum + " " + caught + " " + overflows); } }
"""

CPP = "#include <map>\\n#include <regex>\\n#include <string>\\n#include <iostream>\\nint main() { std::map<std::string, int> m; std::regex r(\"a+b\"); for (auto& [k, v] : m) std::cout << k << v << std::regex_match(k, r); }\\n"

PERL_TESTS = "cmd/*.t base/*.t op/[a-f]*.t re/[a-p]*.t"
PERL_TREE = """mkdir -p perl/lib && cp -r '{perl}/t' perl/ && for tree in $(perl -e 'print join " ", grep {{ -d && m(^/usr/(share|lib)) && !/site|vendor|local/ }} @INC'); do
cp -rsn $tree/. perl/lib/; done; ln -sf /usr/bin/perl perl/perl; ln -sf /usr/bin/perl perl/t/perl"""

PYTHON_TESTS = ("test_grammar test_generators test_exceptions test_list test_dict test_set test_re test_string test_itertools "
                "test_struct test_json test_pickle test_contextlib test_coroutines test_zlib test_decimal")

NGINX = """mkdir -p nginx/tmp; seq 1 20000 >nginx/page; cat >nginx/conf <<END
daemon off; master_process on; worker_processes 2; pid {d}/nginx/pid; error_log {d}/nginx/log; user root;
events { worker_connections 256; }
http { access_log off; gzip on; gzip_types *; client_body_temp_path {d}/nginx/tmp; proxy_temp_path {d}/nginx/tmp;
fastcgi_temp_path {d}/nginx/tmp; uwsgi_temp_path {d}/nginx/tmp; scgi_temp_path {d}/nginx/tmp;
server { listen unix:{d}/nginx/socket; location / { root {d}/nginx; } } }
END"""

NGINX_LOAD = """for turn in 1 2 3; do (for i in $(seq 40); do curl -sf --compressed --unix-socket nginx/socket http://x/page || echo failed; done | md5sum) & done; wait"""

REDIS_LOAD = """redis-benchmark -s {d}/redis.socket -n 30000 -c 20 -t set,get,incr,lpush,lpop,zadd -q >/dev/null 2>&1; echo $?
redis-cli -s {d}/redis.socket eval 'local s = 0; for i = 1, 300000 do s = s + i % 7 end return s' 0
redis-cli -s {d}/redis.socket save; redis-cli -s {d}/redis.socket dbsize >/dev/null; redis-cli -s {d}/redis.socket bgrewriteaof >/dev/null"""

POSTGRES = "$(ls -d /usr/lib/postgresql/*/bin | tail -1)"
DATABASE = f"chmod 755 . && mkdir -p data && chown 65534:65534 data && {' '.join(NOBODY)} {POSTGRES}/initdb -D data -A trust -U sp -N >/dev/null"
PGBENCH = f"""export PGHOST={{d}}/data PGUSER=sp; pgbench -i -q -s 1 postgres >/dev/null 2>&1; echo $?
pgbench -n -c 4 -j 2 -t 150 postgres 2>&1 | grep -E 'actually processed|failed'
psql -At postgres -c 'select count(*), count(distinct tid) from pgbench_accounts, pgbench_tellers where aid < 100' -c 'select sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts'"""


def cases(perl_source):
    newest = (glob.glob("/usr/lib/postgresql/*/bin") or ["/usr/lib/postgresql"])[-1]
    go = next((p for p in ("/usr/bin/kubectl", "/usr/local/bin/terraform", "/usr/bin/gh") if os.path.exists(p)), "/usr/bin/go")
    postgres = {"setpriv": "util-linux", "pgbench": "postgresql-client", newest + "/initdb": "postgresql"}
    return {
        "pipelines": bash("for i in $(seq 40); do seq $((i * 50)) | sort -r | tr 1-5 a-e | sed 's/a/bb/g' | grep -v c | awk '{ n += length } END { print n }'; done; trap 'echo trapped' USR1; kill -USR1 $$; (exit 7); echo $?; exit 5"),
        "bash": bash("fib() { (($1 < 2)) && REPLY=$1 && return; local n=$1 a; fib $((n - 1)); a=$REPLY; fib $((n - 2)); ((REPLY += a)); }; fib 15; echo $REPLY; declare -A m; for ((i = 0; i < 20000; ++i)); do m[k$((i % 97))]+=x; done; echo ${#m[@]} ${#m[k3]}; for i in {1..200}; do x=$(echo $i); done; echo $x"),
        "git": bash("rm -rf r; git init -q r 2>/dev/null; cd r; git config user.email a@b; git config user.name a; export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'; for i in $(seq 15); do seq $i 500 >f$((i % 4)); git add . ; git commit -qm $i; done; git gc -q; git log --format=%H | tail -1; git fsck 2>&1; git diff --stat HEAD~9 | tail -1", needs={"git": "git"}),
        "gcc": bash(f"printf '{CPP}' >a.cpp; g++ -O2 -S -o - a.cpp | md5sum; echo ${{PIPESTATUS[0]}}; printf 'int main(void) {{ return 3; }}' >b.c; gcc -o b b.c && ./b; echo $?", needs={"g++": "g++", "gcc": "gcc"}),
        "make": bash("for i in 1 2 3 4 5 6; do echo \"int f$i(int a) { return a * $i; }\" >f$i.c; done; printf 'all: f1.o f2.o f3.o f4.o f5.o f6.o\\n%%.o: %%.c\\n\\t@gcc -O2 -c $<\\n' >Makefile; make -j3 -B; cat f?.o | md5sum", needs={"make": "make", "gcc": "gcc"}),
        "xz": bash("seq 400000 | xz -3 -T2 --block-size=500000 | tee a.xz | md5sum; xz -dc -T2 a.xz | md5sum", needs={"xz": "xz-utils"}),
        "sort": Case(["sort", "--parallel=4", "-S", "4M", "-k1.3n", "numbers"], {"sort": "coreutils"}, prepare="seq 300000 | awk '{ print $1 * 7919 % 300007 }' >numbers"),
        "sqlite3": Case(["sqlite3", ":memory:", "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000) insert into t select i, i * 7919 % 10007 from n; create index x on t(b); select count(*), sum(a), max(b) from t where b > 77; select b, group_concat(a) from t group by b limit 3;"], {"sqlite3": "sqlite3"}),
        "perl": Case(["perl", "-e", "my %h; for (1..400000) { $h{$_ * 31 % 1009} .= chr 65 + $_ % 26 } my $n = 0; for (1..50000) { eval { die { n => $_ } if $_ % 3 == 0; 1 } or $n += $@->{n} } $SIG{ALRM} = sub { die \"late\\n\" }; alarm 1; eval { 1 while 1 }; print $n, ' ', length(join '', map { $h{$_} } sort keys %h), \" $@\""], {"perl": "perl"}),
        "perl-core": Case(["bash", "-c", f"cd perl/t && perl TEST {os.environ.get('PERL_TESTS') or PERL_TESTS}"], {(perl_source or "perl-source (--perl-source DIR)") + "/t/TEST": "apt-get source perl"},
                          prepare=PERL_TREE.replace("{perl}", perl_source or "").replace("{{", "{").replace("}}", "}"), environment={"PERL_HASH_SEED": "0"}, ignore=r"^(Elapsed|u=|\d+%)|^(Finished|Total) "),
        "python3": Case(["/usr/bin/python3", "-c", "import threading, hashlib, re, json\nout = []\ndef work(n):\n  d = {}\n  for i in range(60000):\n    d[i * n % 1013] = d.get(i * n % 1013, 0) + len(str(i))\n    try:\n      if i % 1000 == n: raise KeyError(i)\n    except KeyError: d[n] = i\n  out.append(sum(d.values()))\nts = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n[t.start() for t in ts]; [t.join() for t in ts]\nprint(sorted(out), hashlib.sha256(json.dumps(sorted(out)).encode() * 9999).hexdigest(), len(re.findall('a+b', 'aab' * 20000)))"], {"/usr/bin/python3": "python3"}),
        "python-suite": Case(["/usr/bin/python3", "-m", "test", *(os.environ.get("PYTHON_TESTS") or PYTHON_TESTS).split()], {"/usr/lib/python3.11/test/test_list.py": "libpython3.11-testsuite"},
                             ignore=r"(?i)duration|^==|^\d+:\d+:\d+|temp|seconds"),
        "node": Case(["node", "work.js"], {"node": "nodejs"}, prepare="cat >work.js <<'END'\n" + NODE + "END"),
        "java": Case(["java", "-Xmx512m", "-cp", ".", "Work"], {"java": "default-jre-headless", "javac": "default-jdk-headless"}, prepare="cat >Work.java <<'END'\n" + JAVA + "END\njavac Work.java"),
        "go": Case([go, "version", "--client"] if go.endswith("kubectl") else [go, "version"], {go: "kubectl, terraform, gh or golang-go"}),
        "go-work": bash("for i in 1 2 3; do kubectl create configmap c$i --from-literal=a=$i --dry-run=client -o yaml; kubectl explain --help | md5sum; done", needs={"kubectl": "kubectl"}),
        "rust": Case(["rg", "-j4", "--sort", "path", "-c", "s[a-z]+e\\b.*\\d", "/usr/share/perl", "/usr/include"], {"rg": "ripgrep"}),
        "nginx": Case(["/usr/sbin/nginx", "-p", "{d}/nginx", "-c", "{d}/nginx/conf", "-e", "{d}/nginx/log"], {"/usr/sbin/nginx": "nginx-light", "curl": "curl"}, prepare=NGINX, ready="[[ -S nginx/socket ]]", load=NGINX_LOAD, stop=signal.SIGQUIT),
        "redis": Case(["redis-server", "--unixsocket", "{d}/redis.socket", "--port", "0", "--save", "", "--dir", "{d}"], {"redis-server": "redis-server", "redis-benchmark": "redis-tools"},
                      ready="redis-cli -s redis.socket ping 2>/dev/null | grep -q PONG", load=REDIS_LOAD, ignore="."),
        "initdb": Case([*NOBODY, newest + "/initdb", "-D", "data", "-A", "trust", "-U", "sp", "-N"], postgres, prepare="chmod 755 . && mkdir -p data && chown 65534:65534 data"),
        "pgbench": Case([*NOBODY, newest + "/postgres", "-D", "data", "-k", "{d}/data", "-c", "listen_addresses="], postgres, prepare=DATABASE, ready="pg_isready -q -h {d}/data", load=PGBENCH, stop=signal.SIGINT),
    }


def small_cases():
    """Of small_programs.py; a script that is given to sh needs its package's program."""
    known = {}
    for name, (command, package, *others) in small_programs.table().items():
        prepare, ignore = [*others, "", ""][:2]
        needs = {name.partition("-")[0] if command[0] == "sh" else command[0]: package}
        if command[0] == "./a":
            needs = {"golang-go": {"go": package}, "ghc": {"ghc": package}, "ocaml-nox": {"ocamlopt": package}}.get(package, {package: package})
        known[name] = Case(command, needs, small_programs.FILES + prepare, ignore=ignore)
    return known


class Run:
    """One run of a case in a directory of its own."""

    def __init__(self, case, directory, limit):
        self.case, self.directory, self.deadline = case, directory, time.monotonic() + limit
        self.out = open(os.path.join(directory, "stdout"), "wb")
        self.environment = {**os.environ, "LC_ALL": "C", **case.environment}
        self.loaded = b""
        self.started = []  # profilers
        if case.prepare:
            subprocess.run(["bash", "-c", self.fill(case.prepare)], cwd=directory, check=True, env=self.environment, stdout=subprocess.DEVNULL)

    def fill(self, text):
        return text.replace("{d}", self.directory)

    def start(self, before=()):
        words = [*before, *(self.fill(word) for word in self.case.command)]
        with open(os.path.join(self.directory, "stderr"), "wb") as errors:
            return subprocess.Popen(words, cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.out,
                                    stderr=errors, start_new_session=True)

    def left(self):
        return self.deadline - time.monotonic()

    def serve(self, server):
        """Waits for it, loads it and asks it to end; `server` tells its pid."""
        while self.left() > 0 and subprocess.run(["bash", "-c", self.fill(self.case.ready)], cwd=self.directory).returncode != 0:
            time.sleep(0.05)
        try:
            done = subprocess.run(["bash", "-c", self.fill(self.case.load)], cwd=self.directory, capture_output=True, timeout=max(1, self.left()))
            self.loaded = done.stdout
        except subprocess.TimeoutExpired:
            self.loaded = b"late"
        if pid := server():
            os.kill(pid, self.case.stop)

    def result(self, process, server=None):
        if self.case.load:
            self.serve(server or (lambda: process.pid))
        status, left = finish(process, max(1, self.left()))
        return status, left, self.text()

    def text(self):
        self.out.flush()
        text = pathlib.Path(self.directory, "stdout").read_bytes() + self.loaded
        ignore = re.compile(self.case.ignore.encode()) if self.case.ignore else None
        lines = text.replace(self.directory.encode(), b"DIR").splitlines()
        if ignore and self.case.load:
            return self.loaded
        return b"\n".join(line for line in lines if not ignore or not ignore.search(line))


def launched_by(superprofiler):
    """Its child that is not the guardian; None if there is none."""
    try:
        for child in pathlib.Path(f"/proc/{superprofiler}/task/{superprofiler}/children").read_text().split():
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() != "sp-guardian":
                return int(child)
    except OSError:
        pass
    return None


def attach_until_the_end(run, ours, process, seconds, kill_within):
    """Attaches for some seconds, again and again; returns the number of times and what went wrong."""
    wrong, times = [], 0
    while process.poll() is None and run.left() > 0:
        words = [*ours, "--follow", "all", "-d", f"{seconds}s", "-p", str(process.pid)]
        profiler = subprocess.Popen(words, cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        times += 1
        try:
            profiler.wait(random.uniform(0.02, kill_within) if kill_within else seconds + 60)
        except subprocess.TimeoutExpired:
            if not kill_within:
                wrong.append("superprofiler does not end")
            profiler.kill()
            profiler.wait()
        said = profiler.stderr.read().decode(errors="replace").strip()
        if profiler.returncode not in (0, -9) and process.poll() is None and process.returncode is None:
            wrong.append(f"superprofiler ended with {profiler.returncode}: {said[-200:]}")
        time.sleep(0.05)
    return times, wrong


def check(name, case, mode, way, asked, expected):
    """A list of what differs from `expected` (status, output, processes left, seconds), and a remark."""
    ours = [asked.superprofiler, "-q", *MODES[mode], "--name", "run", "--overwrite"]
    with tempfile.TemporaryDirectory(prefix="others-") as directory, tempfile.TemporaryDirectory() as results:
        ours += ["-o", results]
        run = Run(case, directory, asked.limit)
        wrong, remark = [], ""
        if way == "launched":
            process = run.start([*ours, "--"])
            status, left, text = run.result(process, lambda: launched_by(process.pid))
        elif way == "orphaned":
            process = run.start([*ours, "--"])
            time.sleep(random.uniform(0.02, max(0.1, expected[3])))  # the random moment
            target = launched_by(process.pid)
            process.kill()
            process.wait()
            if case.load:
                run.serve(lambda: target)
            while processes_in(process.pid) and run.left() > 0:
                time.sleep(0.05)
            left = end_session(process.pid, 0)
            status, text = expected[0], run.text()
            remark = "killed before it began or after its end" if target is None or not text else ""
            text = text or expected[1]
        else:
            import threading
            process = run.start()
            answer = []
            serving = threading.Thread(target=lambda: answer.append(run.result(process)))
            serving.start()
            times, wrong = attach_until_the_end(run, ours, process, asked.seconds, min(asked.seconds, max(0.1, expected[3])) if way == "killed" else 0)
            serving.join()
            status, left, text = answer[0]
            remark = f"{times} times"
        if status != expected[0]:
            wrong.append(f"ended with {status}, alone with {expected[0]}")
        if text != expected[1]:
            wrong.append("another output: " + first_difference(text, expected[1]))
        if len(left) > expected[2]:
            wrong.append(f"left {len(left)} processes")
        if wrong and asked.keep:
            shutil.copytree(directory, os.path.join(asked.keep, f"{name}.{mode}.{way}"), dirs_exist_ok=True, symlinks=True, ignore_dangling_symlinks=True, ignore=lambda d, names: [n for n in names if pathlib.Path(d, n).is_socket()])
        return wrong, remark


def first_difference(text, expected):
    ours, alone = text.splitlines(), expected.splitlines()
    for i in range(max(len(ours), len(alone))):
        pair = [lines[i].decode(errors="replace")[:100] if i < len(lines) else "(end)" for lines in (ours, alone)]
        if pair[0] != pair[1]:
            return f"line {i + 1}: {pair[0]!r}, alone {pair[1]!r}"
    return "the ends of lines"


def alone(case, limit):
    with tempfile.TemporaryDirectory(prefix="others-") as directory:
        run = Run(case, directory, limit)
        begin = time.monotonic()
        status, left, text = run.result(run.start())
        return status, text, len(left), time.monotonic() - begin


def missing(case):
    return [f"{need} (package {package})" for need, package in case.needs.items() if not (shutil.which(need) or os.path.exists(need))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", default=",".join(DEFAULT_MODES))
    parser.add_argument("--ways", default="launched,attached")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--limit", type=float, default=900)
    parser.add_argument("--perl-source")
    parser.add_argument("--keep", metavar="DIR", help="keeps the files of runs that failed")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("superprofiler", nargs="?", default=str(ROOT / "build/release/src/superprofiler"))
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    asked.superprofiler = os.path.abspath(asked.superprofiler)
    known = cases(asked.perl_source and os.path.abspath(asked.perl_source))
    small = small_cases()
    chosen = asked.names or [*known, *small]
    if chosen == ["small"]:
        chosen = [*small]
    known |= small
    if asked.list:
        print(*known, sep="\n")
        return
    tried = failed = 0
    for name in chosen:
        case = known[name]
        if lacking := missing(case):
            print(f"{name}: skipped, not installed: {', '.join(lacking)}", flush=True)
            continue
        expected = alone(case, asked.limit)
        if expected[0] == "late" or expected[3] > asked.limit:
            print(f"{name}: skipped, takes more than {asked.limit} s alone", flush=True)
            continue
        again = alone(case, asked.limit)
        if expected[:2] != again[:2]:
            print(f"{name}: skipped, not the same twice alone ({first_difference(expected[1], again[1])})", flush=True)
            continue
        print(f"{name}: alone {expected[3]:.1f} s, status {expected[0]}, {len(expected[1])} bytes", flush=True)
        for mode in asked.modes.split(","):
            for way in asked.ways.split(","):
                begin = time.monotonic()
                wrong, remark = check(name, case, mode, way, asked, expected)
                tried += 1
                failed += bool(wrong)
                print(f"  {mode} {way}: {'; '.join(wrong) or 'same'}, {time.monotonic() - begin:.1f} s {remark}", flush=True)
    print(f"{tried} runs, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
