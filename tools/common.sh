# Shared by ./dev and tools/*.sh: where things are, and how progress is shown. Sourced, not run.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
export COLLAGE_PREFIX="${COLLAGE_PREFIX:-${XDG_CACHE_HOME:-$HOME/.cache}/collage/parts}"
# The interpreter that the pinned wheels are made for: the distribution's own, not one that comes earlier in PATH.
PYTHON=/usr/bin/python3
JOBS="${COLLAGE_JOBS:-$(nproc)}"

say() { printf '%s\n' "-- $*" >&2; }
die() { printf '%s\n' "dev: $*" >&2; exit 1; }

# as_root COMMAND...: runs it directly for root, else through sudo.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "need root or sudo for: $*"; fi
}
