#!/usr/bin/env python3
"""project_coverage.py [--project NAME] [--show N] [--keep DIR] [SUPERPROFILER]: runs the test suite of a real project (bzip2
and zlib in C, tinyxml2 and jsoncpp in C++), whose sources Debian ships, once built for gcov and once plain under superprofiler --coverage, and compares the
executed lines of each source file.

The upstream sources are fetched with apt-get source, from the suites of this machine's own sources.list; deb-src entries for them
are kept in a directory of this script. Both builds are -O0 -g.

What gcov and line tables call a line of their own differs in places that say nothing about execution: braces, labels,
declarations, and the second line of an expression. A line is compared only if both have it. Fails if one is executed for
one of them and not for the other, and not EXPLAINED."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

PROJECTS = {
    # The suite is what "make test" does with the program that stands there.
    "bzip2": {"prepare": [], "build": ["make", "bzip2", "CFLAGS={flags}", "LDFLAGS={flags}"],
              "test": ["make", "test", "CFLAGS={flags}", "LDFLAGS={flags}"]},
    "zlib": {"prepare": ["./configure", "--static"], "build": ["make", "static", "CFLAGS={flags}", "LDFLAGS={flags} -L."],
             "test": ["make", "teststatic", "CFLAGS={flags}", "LDFLAGS={flags} -L."]},
    "tinyxml2": {"prepare": [], "build": ["make", "xmltest", "CXXFLAGS={flags}", "LDFLAGS={flags}"],
                 "test": ["make", "test", "CXXFLAGS={flags}", "LDFLAGS={flags}"]},
    # Its unit tests; their makefiles are CMake's.
    "jsoncpp": {"source": "libjsoncpp", "prepare": [],
                "build": ["sh", "-c", "g++ {flags} -Iinclude -Isrc/lib_json src/lib_json/*.cpp src/test_lib_json/*.cpp"
                                      " -o jsoncpp_test"],
                "test": ["./jsoncpp_test"]},
}

# Where gcov tells another thing than what the instructions of the line did, as the code shows.
EXPLAINED = {
    ("tinyxml2.cpp", 361): "a brace whose only instruction, a jump, gcov joins with the jump over it",
    **{("main.cpp", line): "of an initialiser list over several lines gcov sees what happens in an exception alone"
       for line in (3437, 3438, 3439, 3450, 3451, 3452)},
}


def run(command, directory, environment=None, **options):
    done = subprocess.run(command, cwd=directory, env={**os.environ, **(environment or {})},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} in {directory}: status {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def write_source_entries(folder):
    """This machine's own suites of Debian, for sources."""
    entries, lines = [], []
    for path in [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]:
        text = path.read_text() if path.is_file() else ""
        if path.suffix == ".sources":
            entries += [re.sub(r"^Types:.*$", "Types: deb-src", entry, flags=re.M).strip()
                        for entry in re.split(r"\n\s*\n", text)
                        if "debian-archive" in entry and re.search(r"^Types:.*\bdeb\b", entry, re.M)]
        elif path.suffix == ".list":
            lines += [re.sub(r"^deb\s", "deb-src ", line) for line in text.splitlines()
                      if re.match(r"deb\s.*/debian(-security)?/?\s", line)]
    (folder / "own.sources").write_text("\n\n".join(entries) + "\n")
    (folder / "own.list").write_text("\n".join(lines) + "\n")


def fetch(package, directory):
    apt = directory / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "parts"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    write_source_entries(apt / "parts")
    options = ["-oDir::Etc::sourcelist=/dev/null", f"-oDir::Etc::sourceparts={apt}/parts",
               f"-oDir::State::lists={apt}/lists", f"-oDir::Cache={apt}/cache", "-oAPT::Sandbox::User=root"]
    run(["apt-get", *options, "update"], directory)
    run(["apt-get", *options, "source", "--download-only", package], directory)
    run(["tar", "-xf", next(directory.glob(f"{package}_*.orig.tar.*")), "--one-top-level=sources",
         "--strip-components=1"], directory)
    return directory / "sources"


def make(project, sources, directory, flags):
    shutil.copytree(sources, directory, symlinks=True)
    steps = PROJECTS[project]
    filled = {step: [word.format(flags=flags) for word in steps[step]] for step in ("prepare", "build", "test")}
    if filled["prepare"]:
        run(filled["prepare"], directory, {"CC": "gcc"})
    run(filled["build"], directory)
    return filled["test"]


def lines_of_gcov(directory):
    lines = {}
    for data in sorted(directory.rglob("*.gcda")):
        report = json.loads(run(["gcov", "-j", "-t", data], directory))
        for file in report["files"]:
            of_file = lines.setdefault(os.path.basename(file["file"]), {})
            for line in file["lines"]:
                number = line["line_number"]
                of_file[number] = of_file.get(number, 0) + line["count"]
    return lines


def lines_of_lcov(path):
    lines, of_file = {}, {}
    for line in path.read_text().splitlines():
        if line.startswith("SF:"):
            of_file = lines.setdefault(os.path.basename(line[3:]), {})
        elif line.startswith("DA:"):
            number, hits = line[3:].split(",")[:2]
            of_file[int(number)] = of_file.get(int(number), 0) + int(hits)
    return lines


def compare(sources, expected, found, show):
    compared = executed = wrong = 0
    for name in sorted(expected.keys() & found.keys()):
        path = next(iter(sources.rglob(name)), None)
        text = path.read_text(errors="replace").splitlines() if path else []
        for number in sorted(expected[name].keys() & found[name].keys()):
            compared += 1
            executed += expected[name][number] > 0
            if (expected[name][number] > 0) != (found[name][number] > 0):
                if (name, number) in EXPLAINED:
                    print(f"  {name}:{number}: {EXPLAINED[name, number]}")
                    continue
                wrong += 1
                if wrong <= show:
                    code = text[number - 1].strip() if number <= len(text) else ""
                    print(f"  {name}:{number}: gcov {expected[name][number]}, superprofiler {found[name][number]}: {code}")
        only = sum(1 for line, hits in expected[name].items() if hits > 0 and line not in found[name])
        if only:
            print(f"  {name}: {only} lines that only gcov has were executed")
    return compared, executed, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("superprofiler", nargs="?", default=ROOT / "build/release/src/superprofiler")
    parser.add_argument("--project", choices=sorted(PROJECTS), action="append")
    parser.add_argument("--show", type=int, default=10)
    parser.add_argument("--keep", type=pathlib.Path, help="work here, and leave everything there")
    given = parser.parse_args()
    superprofiler = pathlib.Path(given.superprofiler).resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for project in given.project or sorted(PROJECTS):
            directory = (given.keep or pathlib.Path(scratch)).resolve() / project
            directory.mkdir(parents=True)
            sources = fetch(PROJECTS[project].get("source", project), directory)
            run(make(project, sources, directory / "gcov", "-O0 -g --coverage"), directory / "gcov")
            test = make(project, sources, directory / "plain", "-O0 -g")
            run([superprofiler, "-o", directory / "output", "--name", "suite", "--coverage", "--follow", "all",
                 "--", *test], directory / "plain")
            compared, executed, wrong = compare(sources, lines_of_gcov(directory / "gcov"),
                                                lines_of_lcov(directory / "output/suite/coverage.info"), given.show)
            print(f"{project}: {compared} lines compared, {executed} executed, {wrong} differ")
            failed += wrong > 0 or compared == 0
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
