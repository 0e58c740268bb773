#!/usr/bin/env bash
# attach_rounds.sh [N] [SUPERPROFILER] [TARGETS]: attaches to a busy multi-threaded program and
# detaches from it N times (1000), and checks each time that nothing was left behind. The program must
# end with the right answer. SUPERPROFILER and TARGETS (the built tests/targets) default to those of
# build/release.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rounds=${1:-1000}
superprofiler=${2:-$root/build/release/src/superprofiler}
targets=${3:-$root/build/release/tests/targets}
directory=$(mktemp -d)
mkfifo "$directory/input"
"$targets/steady" 6 4 <"$directory/input" >"$directory/answer" &
target=$!
exec 9>"$directory/input" # keeps its stdin open until the end
trap 'kill -KILL $target 2>/dev/null; rm -rf "$directory"' EXIT

for ((i = 0; i < 600; ++i)); do
  grep -q ready "$directory/answer" && break
  sleep 0.1
done

failures=0
complain() {
  echo "round $round: $*"
  failures=$((failures + 1))
}

for ((round = 1; round <= rounds; ++round)); do
  options=(-q -i "$((10 + RANDOM % 200))" -d "$((1 + RANDOM % 30))ms")
  ((round % 3 == 0)) && options+=(--stop-with interrupt)
  ((round % 5 == 0)) && options+=(--wall)
  "$superprofiler" "${options[@]}" -o "$directory" --name run --overwrite -p $target ||
    complain "superprofiler ended with $?"
  for status in /proc/$target/task/*/status; do
    if ! grep -qP '^TracerPid:\t0$' "$status"; then
      complain "$status has a tracer"
    fi
    if grep -qP '^State:\t[Tt]' "$status"; then
      complain "$status is stopped"
    fi
    # SIGSTOP is number 19: bit 18, the third bit of the fifth hex digit from the right.
    if grep -qP '^(SigPnd|ShdPnd):\t[0-9a-f]{11}[4567cdef]' "$status"; then
      complain "$status has a SIGSTOP pending"
    fi
  done
done

exec 9>&-
wait $target
status=$?
echo "$rounds rounds, $failures failures; the target ended with $status and says: $(tail -n 1 "$directory/answer")"
((failures == 0 && status == 0))
