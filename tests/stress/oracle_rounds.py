#!/usr/bin/env python3
"""oracle_rounds.py [--modes MODE,...] [--confirm MODE] [--scale N] [--limit SECONDS] [--show N] [SUPERPROFILER] [NAME...]: compares the
count of every block of real programs with callgrind's (valgrind --tool=callgrind --dump-instr=yes). Modes are -a (the
default), --single, --single=step and default. Each program runs twice under callgrind and twice in each mode, with the
environment that callgrind gives its programs, and the work grows with N (1: some 100,000 blocks).

An instruction of a block must have been executed as often as the block, and none outside of blocks. Only the module that
does the work is compared: callgrind shows programs another CPU, so that libc picks other functions. Blocks in which the
two runs of callgrind, or the two of superprofiler, differ are not the same twice: they are told apart. What callgrind
names no object for (.plt) is placed by its address; repetitions of a rep-prefixed instruction are not compared.
With --confirm --single=step what differs from callgrind is compared with that mode's counts, on the same machine: code
that asks for the CPU's features runs otherwise under callgrind, and is told apart. grep and diff read /proc/self/maps,
in which each tool has memory of its own: the hexadecimal digits and lines are in loops that differ, which are shown but
fail nothing if they are fewer than one in 20 blocks.
A block that differs, or that was not counted to the end with -a or --single, fails its program. Needs x86-64."""

import argparse
import collections
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = 4096

Block = collections.namedtuple("Block", "offset size instructions hits kind function")
Program = collections.namedtuple("Program", "command module environment", defaults=(None, {}))
# These read /proc/self/maps at their start, for their handler of stack overflows.
READ_MAPS = {"grep", "diff"}


def text_of(size):
    """Text that compresses neither too well nor too badly."""
    words, length, i = [], 0, 1
    while length < size:
        words.append(f"word{(i * i * 7919 + i * 31) % 5000}" + ("\n" if i % 9 == 0 else " "))
        length += len(words[-1])
        i += 1
    return "".join(words)[:size]


SQL = """create table t(a, b, c); with recursive n(i) as (select 1 union all select i + 1 from n where i < {n})
insert into t select i, i * 7919 % 10007, 'name' || (i % 97) from n; create index x on t(b);
select count(*), sum(a % 7), count(distinct c) from t where b > 13;
select c, count(*), max(b) from t where c like 'name1%' group by c order by 3 limit 3;
update t set b = b + 1 where a % 3 = 0; delete from t where a % 11 = 0; select sum(b) from t;"""

PERL = """my (%h, $s); for my $i (1..{n}) {{ $h{{$i * $i % 97}} .= chr(65 + $i % 26);
++$s if "a$i-b" =~ /^a(\\d+)5-b$/ }} print join(',', map {{$_ . length $h{{$_}}}} sort keys %h), "\\n";
print $s, ' ', scalar(grep {{/A.*B/}} values %h), "\\n"; print join(' ', sort {{$b <=> $a}} map {{$_ * 7 % 31}} 1..40);"""

LUA = """local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t, s = {{}}, 0
for i = 1, {n} do t[i % 100 + 1] = i * 7 % 13; s = s + (t[(i * 31) % 100 + 1] or 0) end
for i = 1, {n} do s = s + #(string.format('%d-%s', i, 'x'):gsub('%d', 'y')) end
table.sort(t); local ok = pcall(error, 'e'); local co = coroutine.wrap(function() for i = 1, 9 do coroutine.yield(i) end end)
print(s, fib(12), t[1], ok, co() + co())"""

PYTHON = """
class Shape:
    def __init__(self, n): self.n = n
    def area(self): return self.n * self.n % 97
seen = {{}}
for i in range({n}):
    a = Shape(i).area()
    seen[a] = seen.get(a, 0) + (1 if i % 3 else len(str(i)))
try: seen[-1]
except KeyError: print(sorted(seen.items())[:3], sum(x * x for x in range({n})))
"""

PHP = """class S {{ public $n; function __construct($n) {{ $this->n = $n; }} function area() {{ return $this->n * $this->n % 97; }} }}
$seen = []; for ($i = 0; $i < {n}; $i++) {{ $a = (new S($i))->area(); $seen[$a] = ($seen[$a] ?? 0) + ($i % 3 ? 1 : strlen((string)$i)); }}
function fib($n) {{ return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }}
ksort($seen); echo json_encode($seen), fib(12), preg_match_all('/a(b|c)+/', str_repeat('abcabxcab', 20)), "\\n";
usort($seen, fn($a, $b) => $a <=> $b); echo implode(',', $seen), md5('x'), "\\n";"""

AWK = "{ n += NF; for (i = 1; i <= NF; ++i) c[$i]++ } /7.*word/ { m++; sub(/word/, \"x\") } END { print n, m, length($0); for (k in c) s += c[k]; print s }"


def library(program, name):
    out = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    for line in out.splitlines():
        words = line.split()
        if words and words[0].startswith(name) and len(words) > 2:
            return words[2]
    return None


def compiler():
    """gcc's program that translates C."""
    out = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout
    return out.strip()


C = """int fib(int n) {{ return n < 2 ? n : fib(n - 1) + fib(n - 2); }}
long sum(const long* all, int n) {{ long s = 0; for (int i = 0; i < n; ++i) s += all[i] * {n} % 7; return s; }}
int classify(int c) {{ switch (c) {{ case 1: return 7; case 5: return 9; case 6: return fib(c); case 9: return 1; default: return c / 3; }} }}
"""


def programs(scale):
    n = lambda each: str(max(1, int(each * scale)))
    bin_ = "/usr/bin/"
    return {
        "gzip": Program([bin_ + "gzip", "-n", "-c", "text"]),
        "gunzip": Program([bin_ + "gzip", "-d", "-c", "text.gz"]),
        "bzip2": Program([bin_ + "bzip2", "-1", "-c", "text"], library(bin_ + "bzip2", "libbz2")),
        "xz": Program([bin_ + "xz", "-0", "-T1", "-c", "text"], library(bin_ + "xz", "liblzma")),
        "sqlite3": Program([bin_ + "sqlite3", ":memory:", SQL.format(n=n(150))], library(bin_ + "sqlite3", "libsqlite3")),
        "rg": Program([bin_ + "rg", "-j1", "--no-config", "-c", "w[a-z]+(1|27)[0-9]+ .*d4", "text"]),
        "python3": Program([bin_ + "python3", "-I", "-S", "-c", PYTHON.format(n=n(300))], None, {"PYTHONHASHSEED": "0"}),
        "lua": Program([bin_ + "lua5.4", "-e", LUA.format(n=n(300))]),
        "perl": Program([bin_ + "perl", "-e", PERL.format(n=n(200))], None, {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}),
        "php": Program([bin_ + "php", "-n", "-r", PHP.format(n=n(300))]),
        "sed": Program([bin_ + "sed", "-E", "s/word([0-9])([0-9]+)/\\2-\\1/g; /77/d; y/abc/xyz/", "part"]),
        "grep": Program([bin_ + "grep", "-cE", "(word1[0-9]+) .*\\1|7{2,3}", "part"]),
        "mawk": Program([bin_ + "mawk", AWK, "part"]),
        "gawk": Program([bin_ + "gawk", AWK, "part"]),
        "sort": Program([bin_ + "sort", "--parallel=1", "-S", "1M", "-k2,2", "-k1n", "part"]),
        "wc": Program([bin_ + "wc", "text"]),
        "tr": Program([bin_ + "tr", "a-m1-5", "n-z6-9"]),
        "uniq": Program([bin_ + "uniq", "-c", "-w4", "part"]),
        "cut": Program([bin_ + "cut", "-d", " ", "-f", "2,4-", "part"]),
        "od": Program([bin_ + "od", "-tx1z", "part"]),
        "base64": Program([bin_ + "base64", "text"]),
        "factor": Program([bin_ + "factor", "1234567890123", n(1000003), "600851475143"]),
        "expr": Program([bin_ + "expr", "length", "abc", ":", "x.*"]),
        "diff": Program([bin_ + "diff", "part", "other"]),
        "bc": Program([bin_ + "bc", "-q", "sums.bc"]),
        "dash": Program([bin_ + "dash", "-c", "i=0; s=; while [ $i -lt %s ]; do i=$((i + 1)); case $i in *7) s=$s$i;; esac; done; echo ${s#7}" % n(300)]),
        "bash": Program([bin_ + "bash", "--norc", "-c", "s=0; for ((i = 0; i < %s; ++i)); do [[ $i == *7 ]] && s=$((s + i)); a[i %% 9]=$i; done; echo $s ${a[*]}" % n(200)]),
        "jq": Program([bin_ + "jq", "-c", "[range(%s)] | map(. * 7 %% 31) | group_by(.) | map(length)" % n(60), "-n"], library(bin_ + "jq", "libjq")),
        "find": Program([bin_ + "find", "/etc/apt", "-name", "*t*", "-size", "-99k"]),
        "m4": Program([bin_ + "m4", "loop.m4"]),
        "busybox": Program([bin_ + "busybox", "md5sum", "text"]),
        "tar": Program([bin_ + "tar", "-cf", "-", "--sort=name", "/etc/apt"]),
        "xxd": Program([bin_ + "xxd", "part"]),
        # Else it collects garbage by how much memory there is, which callgrind changes.
        "cc1": Program([compiler(), "-quiet", "-O1", "-w", "--param=ggc-min-expand=100", "--param=ggc-min-heapsize=131072", "-o", "sums.s", "sums.c"]),
        "cmake": Program([bin_ + "cmake", "-P", "loop.cmake"]),
    }


# ---- what was executed -------------------------------------------------------------------------


class Elf:
    """Bytes of a 64-bit file by the virtual address that it asks for."""

    def __init__(self, path):
        self.bytes = pathlib.Path(path).read_bytes()
        offset, = struct.unpack_from("<Q", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        self.loads = []
        for i in range(count):
            kind, _, at, address, _, length = struct.unpack_from("<IIQQQQ", self.bytes, offset + i * size)
            if kind == 1:
                self.loads.append((address, address + length, at - address))

    def at(self, address, size):
        for begin, end, distance in self.loads:
            if begin <= address < end:
                return self.bytes[address + distance : address + distance + size]
        return b""

    def repeats(self, address):
        repeats = False
        for byte in self.at(address, 4):
            if repeats and (0xA4 <= byte <= 0xA7 or 0xAA <= byte <= 0xAF):
                return True
            if byte not in (0xF2, 0xF3, 0x66) and byte & 0xF0 != 0x40:
                return False
            repeats = repeats or byte in (0xF2, 0xF3)
        return False


def read_callgrind(path):
    """Real path of an object -> its instructions' counts by address."""
    objects, counts, skip = {}, None, False
    with open(path) as file:
        for line in file:
            if line.startswith("0x"):
                if skip:
                    skip = False  # what a callee cost
                elif counts is not None:
                    address, _, count = line.partition(" ")
                    counts[int(address, 16)] += int(count)
            elif line.startswith("ob="):
                name = line[3:].strip()
                key = name if name == "???" else os.path.realpath(name)
                counts = objects.setdefault(key, collections.Counter())
            elif line.startswith("calls="):
                skip = True
    return objects


def place(counts, unplaced, blocks):
    """Adds what has no object, at the distance at which most blocks without counts are found."""
    by_place = collections.defaultdict(list)
    for address in unplaced:
        by_place[address % PAGE].append(address)
    votes = collections.Counter()
    missing = [block for block in blocks if block.offset not in counts]
    for block in missing:
        votes.update(address - block.offset for address in by_place[block.offset % PAGE] if address >= block.offset)
    if not votes:
        return counts
    distance = votes.most_common(1)[0][0]
    placed = collections.Counter(counts)
    for block in missing:
        for address in range(block.offset, block.offset + block.size):
            if address + distance in unplaced:
                placed[address] = unplaced[address + distance]
    return placed


def read_blocks(path, module):
    blocks = []
    with open(path) as file:
        columns = {name: i for i, name in enumerate(file.readline().rstrip("\n").split("\t"))}
        for line in file:
            cells = line.rstrip("\n").split("\t")
            cell = lambda name: cells[columns[name]]
            if cell("kind") != "sampled" and os.path.realpath(cell("module")) == module:
                blocks.append(Block(int(cell("offset"), 0), int(cell("size"), 0), int(cell("instructions")),
                                    int(cell("hits")), cell("kind"), cell("function")))
    return blocks


def executions(blocks):
    """Hits of each byte: independent of how a run cuts the same code into blocks."""
    counts = collections.Counter()
    for block in blocks:
        for address in range(block.offset, block.offset + block.size):
            counts[address] = max(counts[address], block.hits)
    return counts


def differences(elf, blocks, counts):
    """Offset of a block, or address outside of all -> what differs there."""
    wrong, outside = {}, set(counts)
    for block in blocks:
        inside = [a for a in range(block.offset, block.offset + block.size) if a in counts]
        outside.difference_update(inside)
        if "until" in block.kind:
            continue
        if len(inside) != block.instructions or (inside and inside[0] != block.offset):
            wrong[block.offset] = f"{block.function}: {block.instructions} instructions, executed were {len(inside)}"
        for address in inside:
            if counts[address] != block.hits and not elf.repeats(address):
                wrong[block.offset] = f"{block.function}: {block.hits} hits, executed {counts[address]} times"
    for address in outside:
        wrong[address] = f"in no block, executed {counts[address]} times"
    return wrong


def not_the_same_twice(blocks, first, second):
    """Addresses at which two runs of callgrind differ, as differences() names them."""
    changed = {a for a in first.keys() | second.keys() if first[a] != second[a]}
    for block in blocks:
        if any(a in changed for a in range(block.offset, block.offset + block.size)):
            changed.add(block.offset)
    return changed


# ---- runs --------------------------------------------------------------------------------------


class Rounds:
    def __init__(self, superprofiler, scale, limit, directory):
        self.superprofiler, self.limit, self.directory = superprofiler, limit, directory
        text = text_of(max(200, int(12000 * scale)))
        part = text[: max(100, len(text) // 6)]
        files = {"text": text, "part": part, "other": part.replace("word12", "other\n"), "loop.m4": "", "sums.bc": ""}
        files["sums.bc"] = "define f(n) { if (n < 2) return (n); return (f(n - 1) + f(n - 2)); }\nf(9)\nscale=20\n4*a(1)\nfor (i = 0; i < %d; ++i) s += i^2\ns\nquit\n" % (60 * scale + 1)
        files["loop.m4"] = "define(`f', `ifelse($1, 0, `', `$1 f(decr($1))')')f(%d)\n" % (20 * scale + 1)
        files["sums.c"] = C.format(n=60 * scale + 1)
        files["loop.cmake"] = "foreach(i RANGE %d)\n  string(REGEX REPLACE \"[0-9]\" \"<\\\\0>\" s \"${i}\")\n  list(APPEND all ${s})\nendforeach()\nlist(LENGTH all n)\nmessage(STATUS ${n})\n" % (60 * scale)
        for name, content in files.items():
            (pathlib.Path(directory) / name).write_text(content)
        with open(os.path.join(directory, "text.gz"), "wb") as file:
            subprocess.run(["gzip", "-n", "-c", os.path.join(directory, "text")], stdout=file, check=True)

    def run(self, command, environment, limit=None):
        with open(os.path.join(self.directory, "part"), "rb") as text:
            return subprocess.run(command, cwd=self.directory, env=environment, stdin=text, capture_output=True,
                                  timeout=limit or self.limit)

    def callgrind(self, file, program):
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", **program.environment}
        words = ["valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no", "--skip-plt=no",
                 "--compress-strings=no", "--compress-pos=no", f"--callgrind-out-file={file}"]
        return self.run([*words, *program.command], environment)

    def environment_of(self, program):
        """What callgrind's programs see, in its order: some look at every variable."""
        listed = self.callgrind("/dev/null", Program(["/usr/bin/env"], None, program.environment)).stdout.decode()
        return listed.splitlines()

    def counted(self, mode, program, module, name):
        options = [] if mode == "default" else [mode]
        if mode in ("-a", "default"):
            options += ["--only-instrument-execs", module]
        words = [self.superprofiler, "-q", "--no-aslr", *options, "-o", self.directory, "--name", name, "--overwrite",
                 "--", "/usr/bin/env", "-i", *self.environment_of(program), *program.command]
        ran = self.run(words, {"PATH": "/usr/bin:/bin"})
        return ran, os.path.join(self.directory, name, "blocks.tsv")

    def confirmed(self, mode, program, module, blocks, addresses):
        """Those of the addresses at which another mode says the same as the blocks."""
        if not mode or not addresses:
            return set()
        _, table = self.counted(mode, program, module, "confirm")
        executed = executions(read_blocks(table, module))
        ours = executions(blocks)
        by_offset = {block.offset: block for block in blocks}
        ends = {a: by_offset[a].offset + by_offset[a].size if a in by_offset else a + 1 for a in addresses}
        return {a for a in addresses if all(ours[i] == executed[i] for i in range(a, ends[a]))}

    def compare(self, name, program, modes, show, confirm):
        """Prints a line for each mode; True if all agree."""
        module = os.path.realpath(program.module or program.command[0])
        elf = Elf(module)
        oracles = []
        for which in ("first", "second"):
            file = os.path.join(self.directory, f"callgrind.{which}")
            oracle = self.callgrind(file, program)
            objects = read_callgrind(file)
            oracles.append((oracle, objects.get(module, collections.Counter()), objects.get("???", {})))
        good = True
        for mode in modes:
            begin = time.monotonic()
            try:
                ran, table = self.counted(mode, program, module, "run")
                again, other_table = self.counted(mode, program, module, "again")
            except subprocess.TimeoutExpired:
                print(f"{name} {mode}: took more than {self.limit} s", flush=True)
                good = False
                continue
            took = (time.monotonic() - begin) / 2
            if (ran.returncode, ran.stdout) != (oracles[0][0].returncode, oracles[0][0].stdout):
                print(f"{name} {mode}: another output or status ({ran.returncode}): {ran.stderr.decode()[:200]}")
                good = False
                continue
            blocks, others = read_blocks(table, module), read_blocks(other_table, module)
            counts = [place(of_module, unplaced, blocks) for _, of_module, unplaced in oracles]
            wrong = differences(elf, blocks, counts[0])
            unsteady = not_the_same_twice(blocks, *counts)
            hits = {block.offset: block.hits for block in others}
            ours = {b.offset for b in blocks if "until" not in b.kind and hits.get(b.offset) != b.hits}
            left = {a: what for a, what in wrong.items() if a not in unsteady and a not in ours}
            excused = self.confirmed(confirm, program, module, blocks, left)
            left = {a: what for a, what in left.items() if a not in excused}
            ended = sum("until" in block.kind for block in blocks)
            executed = sum(block.hits for block in blocks)
            print(f"{name} {mode}: {len(blocks)} blocks, {executed} executions, {took:.1f} s; {len(left)} differ"
                  f" (and {len(wrong) - len(left)} that are not the same twice: {len(unsteady & wrong.keys())} by"
                  f" callgrind, {len(ours & wrong.keys())} by superprofiler; {len(excused)} confirmed), {ended} not counted to the end", flush=True)
            for address, what in sorted(left.items())[:show]:
                print(f"  {address:#x} {what}")
            good = good and len(left) <= (len(blocks) / 20 if name in READ_MAPS else 0) and bool(blocks) and (mode == "default" or ended == 0)
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", default="-a")
    parser.add_argument("--confirm")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--show", type=int, default=10)
    parser.add_argument("superprofiler", nargs="?", default=str(ROOT / "build/release/src/superprofiler"))
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    if os.uname().machine != "x86_64" or shutil.which("valgrind") is None:
        sys.exit("oracle_rounds.py: needs x86-64 and valgrind")
    known = programs(asked.scale)
    failed = []
    tried = 0
    with tempfile.TemporaryDirectory() as directory:
        rounds = Rounds(os.path.abspath(asked.superprofiler), asked.scale, asked.limit, directory)
        for name in asked.names or known:
            program = known[name]
            if not os.access(program.command[0], os.X_OK):
                print(f"{name}: skipped, {program.command[0]} is not installed")
                continue
            tried += 1
            if not rounds.compare(name, program, asked.modes.split(","), asked.show, asked.confirm):
                failed.append(name)
    print(f"{tried} programs, {len(failed)} failed {' '.join(failed)}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
