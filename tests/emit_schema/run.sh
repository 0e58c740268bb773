#!/bin/sh
# run.sh SUPERPROFILER TARGETS: checks the lines of --emit with npm's ajv. Exits with 77 and prints why if
# it cannot.
set -eu

. "$(dirname "$0")/../npm.sh"

[ $# -eq 2 ] || { echo "usage: $0 SUPERPROFILER TARGETS" >&2; exit 2; }
superprofiler=$(realpath "$1")
targets=$(realpath "$2")
cd "$(dirname "$0")"

command -v python3 >/dev/null || skip "no python3 here"
need_packages ajv
RUNS=$(mktemp -d)
export RUNS
trap 'rm -rf "$RUNS"' EXIT

# emit NAME OPTIONS.. -- PROGRAM..: what a reader gets of that run, in RUNS/NAME.
emit() {
  name=$1
  shift
  python3 ../end_to_end/patient_reader.py "$RUNS/socket" "$RUNS/$name" >"$RUNS/says" &
  reader=$!
  while [ ! -s "$RUNS/says" ]; do sleep 0.05; done
  "$superprofiler" -q -o "$RUNS" --name run --overwrite --tree -a --emit "unix:$RUNS/socket" \
    --emit-every 50ms "$@" >/dev/null 2>&1 || true
  wait "$reader"
  rm -f "$RUNS/socket" "$RUNS/says"
}

emit threads --by-thread --label commit=abc -- "$targets/trace_ways" threads 40
emit addresses --emit-addresses --emit-budget 1GB/day -- "$targets/trace_ways" throw
emit crash -- "$targets/crash_ways" thread
emit killed -- "$targets/dies" kill
node --test
