# Debian packages. Sourced by ./dev.

wanted_packages() { grep -v '^#' "$ROOT/tools/packages.txt"; }

# Prints the wanted packages that are not installed.
missing_packages() {
  comm -23 <(wanted_packages | sort) \
    <(wanted_packages | xargs dpkg-query -W -f='${db:Status-Status} ${Package}\n' 2>/dev/null |
      sed -n 's/^installed //p' | sort)
}

ensure_packages() {
  local missing
  missing="$(missing_packages)"
  [ -n "$missing" ] || return 0
  say "apt: installing" $missing
  as_root apt-get -o DPkg::Lock::Timeout=600 update -q >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -q -y --no-install-recommends \
    $missing >&2
}
