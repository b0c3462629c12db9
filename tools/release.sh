#!/usr/bin/env bash
# ./dev release [--check]: packs what is released into build/release/out (docs/RELEASE.md). With --check it does so once
# more from a copy of the sources in another folder, without compiled objects of before, compares every byte, and installs
# the result in a bare Debian 12.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh
source tools/build.sh

tree="$ROOT/build/release"
out="$tree/out"
# component:package
packages=(runtime:libcollage0 program:collage development:libcollage-dev)
# What results may depend on besides the sources.
export LC_ALL=C TZ=UTC
umask 022
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"; fi
export SOURCE_DATE_EPOCH

contents() { "$PYTHON" "$ROOT/tools/contents.py" "$@"; }
version() { sed -n 's/^project(collage VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt"; }

# The licences of a package are told from its files, so they come after an installation without them.
write_notices() {
  local one component package
  rm -rf "$tree/stage" "$tree/contents"
  for one in "${packages[@]}"; do
    component="${one%%:*}" package="${one##*:}"
    cmake --install "$tree" --component "$component" --strip --prefix "$tree/stage/$package" >/dev/null
    mkdir -p "$tree/contents/$package"
    contents notices "$tree/stage/$package" "$tree/contents/$package/copyright"
  done
}

pack_debian() {
  rm -rf "$tree/packing"
  cpack -G DEB --config "$tree/CPackConfig.cmake" -B "$tree/packing" >"$tree/packing.log" 2>&1 ||
    { cat "$tree/packing.log" >&2; return 1; }
  mv "$tree"/packing/*.deb "$out/"
}

# One folder that may lie anywhere.
pack_tree() {
  local name="collage-$(version)-linux-$(uname -m)"
  cmake --install "$tree" --strip --prefix "$tree/stage/$name" >/dev/null
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go-w --format=gnu \
    -C "$tree/stage" -cf - "$name" | zstd -q -9 --threads=2 -o "$out/$name.tar.zst"
}

pack_wheel() {
  PRESET=release tools/wheel.sh
  cp build/wheel/collage-*.whl "$out/"
}

describe_interface() {
  local abi name
  "$PYTHON" tools/abi.py check "$tree/lib"
  for abi in src/api/*/*.abi; do
    name="$(basename "$abi" .abi)"
    cp "$abi" "$out/"
    nm -D --defined-only "$tree/lib/lib$name.so" | awk '{ print $3 }' | sort >"$out/lib$name.symbols"
  done
}

# needs PACKAGE_FILE: a line for each package of Debian that it depends on.
needs() { dpkg-deb -f "$1" Depends | tr ',' '\n' | sed 's/^ *//; s/ *|.*//' | grep -Ev '^((lib)?collage|$)' || true; }

write_bills() {
  local one needed file
  for one in "${packages[@]}"; do
    one="${one##*:}"
    file="$(echo "$out/${one}_"*.deb)"
    mapfile -t needed < <(needs "$file")
    contents bill "$file" "$tree/stage/$one" "$file.spdx.json" "${needed[@]}"
  done
  mapfile -t needed < <(for file in "$out"/*.deb; do needs "$file"; done | sort -u)
  for file in "$out"/*.tar.zst; do
    contents bill "$file" "$tree/stage/$(basename "$file" .tar.zst)" "$file.spdx.json" "${needed[@]}"
  done
  for file in "$out"/*.whl; do
    rm -rf "$tree/stage/wheel"
    "$PYTHON" -m zipfile -e "$file" "$tree/stage/wheel"
    contents notices "$tree/stage/wheel" "$file.notices.txt"
    contents bill "$file" "$tree/stage/wheel" "$file.spdx.json"
  done
  for file in "$out"/*.spdx.json; do "$(part_dir spdx)/bin/python" -m spdx_tools.spdx.clitools.pyspdxtools --infile "$file"; done
}

release() {
  ensure_parts spdx
  build_targets release product
  rm -rf "$out"
  mkdir -p "$out"
  write_notices
  pack_debian
  pack_tree
  pack_wheel
  describe_interface
  write_bills
  (cd "$out" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
  say "$out:"
  (cd "$out" && ls -l | awk 'NR > 1 { print $5, $9 }' | column -t >&2)
}

# The same from a copy, in a folder of another name and depth.
release_elsewhere() {
  local copy="$ROOT/build/release-check/a_copy/of_the_sources"
  rm -rf "$ROOT/build/release-check"
  mkdir -p "$copy"
  git ls-files -coz --exclude-standard | xargs -0 cp --parents -t "$copy" --preserve=mode
  CCACHE_DISABLE=1 "$copy/tools/release.sh"
  if ! diff "$out/SHA256SUMS" "$copy/build/release/out/SHA256SUMS" >&2; then
    die "two builds differ: $out and $copy/build/release/out"
  fi
  say "two builds are equal, byte for byte"
}

case "${1:-}" in
  "") release ;;
  --check)
    release
    release_elsewhere
    tools/clean_root.sh "$out"
    ;;
  *) die "release: unknown option $1; allowed --check" ;;
esac
