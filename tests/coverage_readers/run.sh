#!/bin/sh
# run.sh SUPERPROFILER PROGRAM: reads the coverage of a run of PROGRAM with npm's cobertura-parse. Exits
# with 77 and prints why if it cannot.
set -eu

. "$(dirname "$0")/../npm.sh"

[ $# -eq 2 ] || { echo "usage: $0 SUPERPROFILER PROGRAM" >&2; exit 2; }
superprofiler=$(realpath "$1")
program=$(realpath "$2")
cd "$(dirname "$0")"

need_packages cobertura-parse
RUNS=$(mktemp -d)
export RUNS
trap 'rm -rf "$RUNS"' EXIT
"$superprofiler" -q -o "$RUNS" --name counted --single -- "$program" 5 >/dev/null
"$superprofiler" coverage --counts "$RUNS/counted"
"$superprofiler" -q -o "$RUNS" --name covered --coverage -- "$program" 5 >/dev/null
node --test
