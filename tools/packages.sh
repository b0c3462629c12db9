# Debian packages. Sourced by ./dev.

# wanted_packages [LIST...]: of tools/LIST.txt; without a list, of all.
wanted_packages() {
  [ $# -gt 0 ] || set -- packages packages_tests
  local list
  for list in "$@"; do grep -v '^#' "$ROOT/tools/$list.txt"; done
}

# missing_packages [LIST...]: prints the wanted packages that are not installed.
missing_packages() {
  comm -23 <(wanted_packages "$@" | sort) \
    <(wanted_packages "$@" | xargs dpkg-query -W -f='${db:Status-Status} ${Package}\n' 2>/dev/null |
      sed -n 's/^installed //p' | sort)
}

# install_packages NAME...: also those that only one command needs.
install_packages() {
  say "apt: installing $*"
  as_root apt-get -o DPkg::Lock::Timeout=600 update -q >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -q -y --no-install-recommends "$@" >&2
}

# ensure_packages [LIST...]
ensure_packages() {
  local missing
  missing="$(missing_packages "$@")"
  [ -z "$missing" ] || install_packages $missing
}
