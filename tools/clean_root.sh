#!/usr/bin/env bash
# clean_root.sh ARTIFACTS: installs what ./dev release made in a bare Debian 12 (debootstrap, in a folder) and uses it: the
# library alone, the command, a model as a library, the tree at another place, the wheel. The last line is
# "clean root: all good".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# = 1 ] && [ -d "$1" ] || die "usage: tools/clean_root.sh FOLDER_OF_ARTIFACTS"
artifacts="$(cd "$1" && pwd)"
cd "$ROOT"
[ "$(id -u)" = 0 ] || exec sudo --preserve-env tools/clean_root.sh "$artifacts"
root="$ROOT/build/clean_root"

release_mounts() {
  local point
  for point in dev/shm proc; do
    if mountpoint -q "$root/$point"; then umount "$root/$point"; fi
  done
}

# The mirror and certificates of this machine, for debootstrap and for apt inside.
make_root() {
  command -v debootstrap >/dev/null || die "debootstrap is not installed"
  local mirror
  mirror="$(apt-get update --print-uris | sed -n "s|^'\(.*\)/dists/bookworm/InRelease'.*|\1|p" | head -n 1)"
  mkdir -p "$root"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log" >&2; die "debootstrap failed"; }
  cp -a /etc/apt/. "$root/etc/apt/"
  cp -a /usr/share/keyrings/. "$root/usr/share/keyrings/"
  cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  if [ -f /etc/pip.conf ]; then cp -L /etc/pip.conf "$root/etc/"; fi
  inside update-ca-certificates >/dev/null
  mount -t proc proc "$root/proc"
  mkdir -p "$root/dev/shm"
  mount -t tmpfs tmpfs "$root/dev/shm"
}

inside() { chroot "$root" /usr/bin/env HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# Names of files are expanded inside.
installed() {
  inside sh -c "apt-get install -q -y --no-install-recommends $*" >>"$root.log" 2>&1 ||
    { tail -n 30 "$root.log" >&2; die "apt-get install $*"; }
}
step() { say "clean root: $*"; }
# has FILE_OF_OUTPUT TEXT
has() { grep -qF -- "$2" "$1" || { cat "$1" >&2; die "$1 lacks: $2"; }; }

use_library() {
  step "the library alone"
  inside apt-get update -q >>"$root.log" 2>&1
  installed gcc g++ libc6-dev make pkg-config '/packages/libcollage0_*.deb' '/packages/libcollage-dev_*.deb'
  inside sh -c '! command -v collage'
  inside sh -ec 'cd /use
    cc -std=c99 -Wall -Werror examples/run_plan_c/run_plan.c -o run_plan_c $(pkg-config --cflags --libs collage)
    c++ -std=c++17 -Wall -Werror examples/run_plan_cpp/run_plan.cpp -o run_plan_cpp $(pkg-config --cflags --libs collage)
    for plan in plans/*.collage; do ./run_plan_c $plan; ./run_plan_cpp $plan; done' >"$root/use/library.out"
  has "$root/use/library.out" "[0] = "
}

# use_program COMMAND NAME: tunes with every backend there is, and runs the plan with a program in C.
use_program() {
  inside sh -ec "cd /use; $1 --version; $1 backends --json $2.json
    $1 workload mnist -o mnist.onnx
    $1 tune mnist.onnx -o $2.collage --store memory: --budget 20s --quiet
    $1 verify $2.collage --quiet" >"$root/use/$2.out"
  has "$root/use/$2.out" "collage "
  "$PYTHON" - "$root/use/$2.json" <<'TEXT'
import json, sys
usable = {one["name"] for one in json.load(open(sys.argv[1]))["backends"] if one["usable"]}
missing = {"host", "onednn", "native", "onnxruntime", "openvino"} - usable
sys.exit(f"backends that are not usable: {sorted(missing)}" if missing else 0)
TEXT
}

use_command() {
  step "the command"
  installed '/packages/collage_*.deb'
  use_program collage command
  inside sh -ec 'cd /use; ./run_plan_c command.collage; ./run_plan_cpp command.collage' >"$root/use/programs.out"
  has "$root/use/programs.out" "[0] = "
}

# The program, the library and what the loader asks for, and no other file.
use_export() {
  local program
  step "a model as a library, in an empty root"
  inside sh -ec 'cd /use
    collage tune mnist.onnx -o library.collage --deploy library --store memory: --budget 20s --quiet
    make -s -f export/Makefile PLAN=library.collage COLLAGE=collage
    mkdir -p /alone/lib; cp run_model run_model_static /alone; cp libmodel.so /alone/lib
    for file in $(ldd run_model libmodel.so | tr "\t " "\n\n" | grep "^/lib" | sort -u); do
      mkdir -p "/alone${file%/*}"; cp "$file" "/alone$file"
    done' >>"$root.log"
  for program in run_model run_model_static; do
    env -i "$(command -v chroot)" "$root/alone" "/$program" >"$root/use/$program.out"
    has "$root/use/$program.out" "[0] = "
  done
}

# Debian's libraries stay, ours go.
use_tree() {
  step "the tree, moved"
  inside apt-get remove -q -y collage libcollage0 libcollage-dev >>"$root.log" 2>&1
  mkdir -p "$root/opt/unpacked"
  zstd -dc "$artifacts"/collage-*.tar.zst | tar xf - -C "$root/opt/unpacked"
  mv "$root/opt/unpacked"/collage-* "$root/opt/another place"
  use_program "'/opt/another place/bin/collage'" tree
}

use_wheel() {
  local wheel
  wheel="$(ls "$artifacts"/*.whl 2>/dev/null | head -n 1)"
  [ -n "$wheel" ] || return 0
  step "the wheel"
  installed python3-venv
  inside sh -ec "cd /use; python3 -m venv venv; venv/bin/pip install -q /packages/$(basename "$wheel")
    venv/bin/python -c 'import collage; print(collage.__version__)'" >"$root/use/wheel.out"
  step "the wheel with what tunes"
  inside sh -ec "cd /use; venv/bin/pip install -q '/packages/$(basename "$wheel")[tune]'
    venv/bin/python quickstart.py mnist.onnx" >"$root/use/tune.out"
  has "$root/use/tune.out" "float32 ("
}

trap release_mounts EXIT
release_mounts
rm -rf "$root"
step "debootstrap"
make_root
mkdir -p "$root/packages" "$root/use"
cp "$artifacts"/*.deb "$root/packages/"
if ls "$artifacts"/*.whl >/dev/null 2>&1; then cp "$artifacts"/*.whl "$root/packages/"; fi
cp -r examples/programs "$root/use/examples"
cp -r examples/export "$root/use/export"
cp examples/python/quickstart.py "$root/use/"
cp -r tests/api/c/stored "$root/use/plans"
use_library
use_command
use_export
use_tree
use_wheel
say "clean root: all good"
