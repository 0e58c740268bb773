# For the run.sh of tests that need npm's packages, to be sourced. Such a test exits with 77 and prints
# why if it cannot run.

skip() {
  echo "skipped: $1"
  exit 77
}

# need_packages NAME..: installs what package-lock.json names in this folder, unless these are there.
need_packages() {
  command -v node >/dev/null || skip "no node here (Debian package: nodejs)"
  for package; do
    [ -d "node_modules/$package" ] && continue
    command -v npm >/dev/null || skip "no npm here (Debian package: npm)"
    npm ci --no-audit --no-fund --silent || skip "npm could not install $*"
    break
  done
}
