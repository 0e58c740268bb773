#!/bin/sh
# package_root.sh [BUILD]: makes the Debian package of a release build, has apt install it in a bare Debian 12
# (mmdebstrap), and records a program there. As root. BUILD defaults to build/release.
set -eu
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build/release}")
command -v mmdebstrap >/dev/null || { echo "package_root.sh: install mmdebstrap" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "package_root.sh: run it as root" >&2; exit 2; }
directory=$(mktemp -d)
root=$directory/root
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$directory"' EXIT
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$directory" >/dev/null
mmdebstrap --quiet --variant=minbase bookworm "$root"
cp "$directory"/superprofiler_*.deb "$root/tmp/"
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"
chroot "$root" sh -eu -c '
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends /tmp/superprofiler_*.deb >/dev/null 2>&1
  cd /tmp
  superprofiler --version
  superprofiler -q -c "/bin/ls /" --name run >/dev/null
  superprofiler report output/run
  ls /usr/share/man/man1/superprofiler* | wc -l'
echo "package_root.sh: installed and ran"
