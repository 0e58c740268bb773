#!/bin/sh
# run.sh RENDER_FLAMEGRAPH RENDER_REPORT SUPERPROFILER: tests the flame graph and the page of
# report --html in headless Chromium, and opens what convert writes in speedscope's page there.
# Exits with 77 and prints why if it cannot.
set -eu

. "$(dirname "$0")/../npm.sh"

[ $# -eq 3 ] || { echo "usage: $0 RENDER_FLAMEGRAPH RENDER_REPORT SUPERPROFILER" >&2; exit 2; }
RENDER=$(realpath "$1")
RENDER_REPORT=$(realpath "$2")
SUPERPROFILER=$(realpath "$3")
export RENDER RENDER_REPORT SUPERPROFILER
cd "$(dirname "$0")"

if [ -z "${CHROMIUM:-}" ]; then
  CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
fi
[ -n "$CHROMIUM" ] || skip "no chromium here (Debian package: chromium)"
export CHROMIUM
need_packages playwright-core speedscope
exec node --test
