#!/usr/bin/env python3
"""conversion_matrix.py [SUPERPROFILER]: records gzip, sqlite3, python3, a C++ program (cmake), a Rust one (rg), a
stripped one (xz) and one of 100 threads, converts each run to every format, and lets the format's reader read
it: callgrind_annotate, go tool pprof, xmllint, protoc, llvm-profdata, gunzip, and parsers of CSV and JSON.
What the reader adds up must be what functions.tsv and blocks.tsv have. SUPERPROFILER defaults to the one of build/release.
Readers that are not installed are left out. For a quiet machine: a run without samples has no stacks to convert."""

import csv
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = "import json\nfor i in range(20000): json.dumps({'a': [i, str(i)] * 3})"
SQL = "with recursive c(x) as (select 1 union all select x + 1 from c where x < 400000) select sum(x * 3 % 7) from c;"
FORMATS = ["callgrind", "callgrind-lines", "speedscope", "pprof", "folded", "svg", "csv", "perf-script", "firefox", "chrome",
           "perfetto", "autofdo"]
PROFDATA = ["llvm-profdata", "llvm-profdata-19", "llvm-profdata-16", "llvm-profdata-14"]


def programs(superprofiler, text):
    threads = pathlib.Path(superprofiler).parents[1] / "tests/targets/thread_sums"
    return {
        "gzip": ["gzip", "-9", "-c", text], "sqlite3": ["sqlite3", ":memory:", SQL],
        "python3": ["/usr/bin/python3", "-c", PYTHON], "C++": ["cmake", "--help-full"],
        "Rust": ["rg", "-c", "[a-f]+[0-9]+", text], "stripped": ["xz", "-3", "-T1", "-c", text],
        "100 threads": [str(threads), "100", "60000000"],
    }


def rows(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def number(text):
    return int(text.replace(",", "")) if text else 0


def output_of(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout


def check(files, samples, executed):
    """What is wrong, in words."""
    wrong = []

    def equal(what, got, wanted):
        if got != wanted:
            wrong.append(f"{what}: {got}, the run has {wanted}")

    folded = sum(int(line.rsplit(" ", 1)[1]) for line in open(files["folded"], errors="replace"))
    equal("folded", folded, samples)
    for name in ("callgrind", "callgrind-lines"):
        if shutil.which("callgrind_annotate"):
            text = output_of(["callgrind_annotate", "--threshold=100", files[name]])
            total = re.search(r"^([\d,]+) .*PROGRAM TOTALS", text, re.M)
            equal(name, number(total.group(1)) if total else None, executed)
    if shutil.which("go"):
        for index, wanted in (("samples", samples), ("instructions", executed)):
            text = output_of(["go", "tool", "pprof", "-raw", f"-sample_index={index}", files["pprof"]])
            types = re.search(r"^Samples:\n(.*)$", text, re.M).group(1).split()
            at = [one.split("/")[0] for one in types].index(index)
            values = re.findall(r"^ +((?:-?\d+ +)*-?\d+): ", text.split("Samples:\n")[1].split("Locations\n")[0], re.M)
            equal(f"pprof {index}", sum(int(line.split()[at]) for line in values), wanted)
    if shutil.which("xmllint"):
        output_of(["xmllint", "--noout", files["svg"]])
    scope = json.load(open(files["speedscope"]))
    equal("speedscope", sum(sum(one["weights"]) for one in scope["profiles"] if one["unit"] == "none"), samples)
    json.load(open(files["chrome"]))
    scripted = sum(line == "\n" for line in open(files["perf-script"], errors="replace"))
    equal("perf-script", scripted, samples)
    with open(files["csv"], newline="", errors="replace") as file:
        equal("csv", sum(int(row["self_samples"] or 0) for row in csv.DictReader(file)), samples)
    if shutil.which("protoc"):
        with open(files["perfetto"], "rb") as file:
            subprocess.run(["protoc", "--decode_raw"], stdin=file, stdout=subprocess.DEVNULL, check=True)
    if profdata := next((tool for tool in PROFDATA if shutil.which(tool)), None):
        if "autofdo" in files and os.path.getsize(files["autofdo"]):
            output_of([profdata, "merge", "--sample", "--text", files["autofdo"], "-o", files["autofdo"] + ".merged"])
    fox = json.load(gzip.open(files["firefox"]))
    equal("firefox", sum(sum(one["samples"].get("weight") or [1] * one["samples"]["length"])
                         for one in fox["threads"]), samples)
    return wrong


def main():
    superprofiler = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/src/superprofiler")
    for tool in ("callgrind_annotate", "go", "xmllint", "protoc"):
        if shutil.which(tool) is None:
            print(f"no {tool} here: what it reads is not checked")
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        text = os.path.join(directory, "text")
        with open(text, "w") as file:
            file.writelines(f"{i * 7919 % 65537:x} line {i}\n" for i in range(400000))
        for name, command in programs(superprofiler, text).items():
            if shutil.which(command[0]) is None:
                print(f"{name}: no {command[0]} here")
                continue
            run = os.path.join(directory, name.replace(" ", "_"))
            subprocess.run([superprofiler, "-q", "-o", directory, "--name", os.path.basename(run), "--overwrite", "--",
                            *command], stdout=subprocess.DEVNULL, check=True)
            files = {}
            for kind in FORMATS:
                files[kind] = os.path.join(run, "as-" + kind)
                made = subprocess.run([superprofiler, "convert", run, "-f", kind, "-o", files[kind]],
                                      capture_output=True, text=True)
                if made.returncode and kind == "autofdo" and "has no debug information" in made.stderr:
                    files.pop(kind)
                else:
                    made.check_returncode()
            samples = sum(number(row["self_samples"]) for row in rows(os.path.join(run, "functions.tsv")))
            executed = sum(number(row["hits"]) * number(row["instructions"])
                           for row in rows(os.path.join(run, "blocks.tsv")))
            wrong = check(files, samples, executed)
            failed += bool(wrong)
            print(f"{name}: {samples:,} samples, {executed:,} instructions: {'; '.join(wrong) or 'equal in all'}", flush=True)
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
