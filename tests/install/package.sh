#!/bin/sh
# package.sh CPACK BUILD SOURCE: makes the Debian packages of BUILD and checks what is in them, that
# apt finds what they depend on, and that the program runs. 77: not possible here.
set -eu
cpack=$1 build=$2 source=$3
for tool in dpkg-deb dpkg-shlibdeps apt-get; do
  command -v "$tool" >/dev/null || {
    echo "skipped: no $tool"
    exit 77
  }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "failed: $1" >&2
  exit 1
}
has() { grep -qx "$2" "$scratch/$1" || fail "$2 is not in $1"; }

"$cpack" -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=none --config "$build/CPackConfig.cmake" -B "$scratch" >"$scratch/log" 2>&1 || {
  cat "$scratch/log"
  fail 'cpack'
}
program=$(find "$scratch" -maxdepth 1 -name 'superprofiler_*.deb')
debug=$(find "$scratch" -maxdepth 1 -name 'superprofiler-dbgsym_*.deb')
[ -f "$program" ] && [ -f "$debug" ] || fail 'a package is missing'

dpkg-deb --contents "$program" | awk '$1 !~ /^d/ { print $6 }' >"$scratch/program"
has program ./usr/bin/superprofiler
for page in "$source"/docs/man/*.1; do
  has program "./usr/share/man/man1/$(basename "$page")"
done
has program ./usr/share/bash-completion/completions/superprofiler
has program ./usr/share/zsh/vendor-completions/_superprofiler
has program ./usr/share/fish/vendor_completions.d/superprofiler.fish
has program ./usr/share/superprofiler/emit.schema.json
! grep -q debug "$scratch/program" || fail 'debug information is in the program'"'"'s package'
dpkg-deb --contents "$debug" | grep -q 'usr/lib/debug/\.build-id/.*\.debug$' ||
  fail 'no debug information'
dpkg-deb --field "$program" Depends | grep -q 'libunwind8.*libzstd1' || fail 'dependencies'
# Lists of packages are not there on every machine.
if apt-cache show libunwind8 >/dev/null 2>&1; then
  apt-get install --simulate "$program" "$debug" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    fail 'apt finds no way to install it'
  }
fi

dpkg-deb --extract "$program" "$scratch/root"
dpkg-deb --extract "$debug" "$scratch/root"
"$scratch/root/usr/bin/superprofiler" --version | grep -q '^superprofiler ' || fail 'it does not run'
