#!/bin/sh
# is_stripped.sh CMAKE BUILD READELF: installs BUILD to a scratch folder and checks that the program
# is stripped and that its debug information is a separate component, named by its build-id.
set -eu
cmake=$1 build=$2 readelf=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "failed: $1" >&2
  exit 1
}
sections() { "$readelf" --section-headers --wide "$1"; }

"$cmake" --install "$build" --prefix "$scratch/usr" --component program >/dev/null
program=$scratch/usr/bin/superprofiler
[ -x "$program" ] || fail 'no bin/superprofiler'
! sections "$program" | grep -E '\.(debug_|symtab)' || fail "$program is not stripped"
[ ! -e "$scratch/usr/lib/debug" ] || fail 'debug information came without being asked for'

"$cmake" --install "$build" --prefix "$scratch/usr" --component debug >/dev/null
id=$("$readelf" --notes --wide "$program" | sed -n 's/.*Build ID: //p')
[ -n "$id" ] || fail "$program has no build-id"
debug=$scratch/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
[ -f "$debug" ] || fail "no $debug"
sections "$debug" | grep -q '\.debug_info' || fail "$debug has no debug information"
sections "$debug" | grep -q '\.symtab' || fail "$debug has no symbols"
