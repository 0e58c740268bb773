#!/usr/bin/env bash
# kill_rounds.sh [N] [SUPERPROFILER] [TARGETS] [KINDS]: counts running programs exactly and kills
# superprofiler at a random moment, N times (200): in turn programs with thousands of hot breakpoints and
# one or eight threads, threads that wait for each other, a tree of forks, and attached programs, with
# --single; gzip, xz and python3 with -a, from copies. Each program must continue and end with the right
# answer. Prints how many breakpoints were inserted at every tenth kill. KINDS are the numbers below
# ("6 7 8": the last three); all unless given.
# SUPERPROFILER defaults to build/release, TARGETS (the built tests/targets) to build/dev.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rounds=${1:-200}
superprofiler=${2:-$root/build/release/src/superprofiler}
targets=${3:-$root/build/dev/tests/targets}
read -ra kinds <<<"${4:-0 1 2 3 4 5 6 7 8}"
directory=$(mktemp -d)
options=(-q -o "$directory" --name run --overwrite)
profiler=0 target=0
[[ -x $targets/steady ]] || { echo "no test programs in $targets: build the dev preset"; exit 2; }
failures=0
answers=
trap 'kill -KILL $profiler $target 2>/dev/null; rm -rf "$directory"' EXIT

pause() { # at most so many milliseconds
  local pause=$((RANDOM % $1))
  sleep "$((pause / 1000)).$(printf '%03d' $((pause % 1000)))"
}
complain() {
  echo "round $round ($kind): $*"
  failures=$((failures + 1))
}
await() { # SECONDS COMMAND...
  local tries=$(($1 * 20))
  shift
  for ((i = 0; i < tries; ++i)); do
    "$@" && return
    sleep 0.05
  done
  return 1
}
ready() { grep -q ready "$answers"; }
right() { [[ $(cat "$answers") == "$1" ]]; }
right_sum() { [[ $(cksum <"$answers") == "$1" ]]; }
gone() { ! kill -0 "$1" 2>/dev/null; }
planted() { # counts the breakpoints in the code of the program and its libraries
  python3 - "$1" <<'END' 2>/dev/null >>"$directory/planted"
import sys
total = 0
mem = open(f"/proc/{sys.argv[1]}/mem", "rb")
for line in open(f"/proc/{sys.argv[1]}/maps"):
    words = line.split()
    if len(words) > 5 and "x" in words[1] and words[5].startswith("/"):
        begin, end = (int(x, 16) for x in words[0].split("-"))
        mem.seek(begin)
        now = mem.read(end - begin)
        with open(words[5], "rb") as file:
            file.seek(int(words[2], 16))
            was = file.read(end - begin)
        total += sum(a != b for a, b in zip(now, was))
if total:
    print(total)
END
}

attached() { # THREADS WORKERS
  mkfifo "$directory/input"
  "$targets/steady" "$@" <"$directory/input" >"$answers" 2>"$answers.err" &
  target=$!
  exec 9>"$directory/input" # keeps its stdin open until the end
  await 30 ready || complain "it did not begin"
  "$superprofiler" --single "${options[@]}" -p $target 2>/dev/null &
  profiler=$!
  pause 400
  ((round % 10 == 0)) && planted $target
  kill -KILL $profiler
  wait $profiler 2>/dev/null
  pause 50
  exec 9>&-
  await 60 gone $target || complain "it hangs"
  wait $target || complain "it ended with $?"
  right $'ready\nright' || complain "it said $(cat "$answers")"
  rm -f "$directory/input"
}
launched() { # IS_RIGHT ANSWER MILLISECONDS OPTION COMMAND...: kills it at any time, even before it begins
  local is_right=$1 answer=$2 longest=$3 mode=$4
  shift 4
  "$superprofiler" "$mode" "${options[@]}" -- "$@" >"$answers" 2>"$answers.err" &
  profiler=$!
  pause "$longest"
  local children child
  children=$(cat /proc/$profiler/task/$profiler/children 2>/dev/null)
  ((round % 10 < 2)) && for child in $children; do planted "$child"; done
  kill -KILL $profiler 2>/dev/null
  wait $profiler 2>/dev/null
  for child in $children; do
    await 60 gone "$child" || complain "it hangs"
  done
  if [[ -s $answers ]]; then
    "$is_right" "$answer" || complain "it said $(head -c 200 "$answers" | tr -d '\0')"
  elif [[ -s $answers.err ]]; then
    complain "it said $(head -1 "$answers.err")"
  else
    # It may not have had a breakpoint yet, or it died: see the note on signal masks in
    # ARCHITECTURE.md. Counted apart.
    unanswered=$((unanswered + 1))
  fi
}

unanswered=0
counted() { launched right "$1" 900 --single "${@:2}"; }
from_copies() { launched right_sum "$1" 3000 -a "${@:2}"; }
input=$directory/words
seq 1 700000 >"$input"
zipped=$(gzip -9 -c "$input" | cksum)
packed=$(xz -c -T2 -2 "$input" | cksum)
script='import json
for k in range(30): text = json.dumps({str(i): [i, str(i) * 3] for i in range(4000)}); back = sorted(json.loads(text).items())
print(len(text), back[7])'
listed=$(python3 -c "$script" | cksum)
one=$("$targets/many_blocks" 1 100)
eight=$("$targets/many_blocks" 8 12)
for ((round = 1; round <= rounds; ++round)); do
  answers=$directory/$round # a program that was overlooked writes into its own file
  : >"$answers"
  case ${kinds[round % ${#kinds[@]}]} in
  0) kind="one thread, attached" && attached 1 ;;
  1) kind="threads and children, attached" && attached 6 4 ;;
  2) kind="threads" && counted "16000 8000" "$targets/counted_threads" 8 2000 ;;
  4) kind="thousands, one thread" && counted "$one" "$targets/many_blocks" 1 100 ;;
  5) kind="thousands, threads" && counted "$eight" "$targets/many_blocks" 8 12 ;;
  3) kind="forks" && counted "255 processes, 0 bad" "$targets/fork_tree" 8 ;;
  6) kind="gzip" && from_copies "$zipped" gzip -9 -c "$input" ;;
  7) kind="xz" && from_copies "$packed" xz -c -T2 -2 "$input" ;;
  8) kind="python3" && from_copies "$listed" python3 -c "$script" ;;
  esac
done
echo "$rounds kills, $failures failures, $unanswered without an answer (killed before the program began, or it died); breakpoints at a kill:" \
  "$(sort -n "$directory/planted" 2>/dev/null | tr '\n' ' ')"
((failures == 0))
