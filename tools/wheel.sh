#!/usr/bin/env bash
# ./dev wheel: a wheel of the objects of build/dev in build/wheel. What Debian has and a wheel may not assume is put into
# it; libraries of engines are not: they come with the packages of the extra `tune`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh
source tools/build.sh

PLATFORM=manylinux_2_36_x86_64 # Debian 12's C library
out="$ROOT/build/wheel"
made="$out/work"

build_targets dev collage_python_wheel
ensure_parts wheel-tools
tools_python="$(part_dir wheel-tools)/bin/python"
rm -rf "$out"
mkdir -p "$made/tree"

cmake --install build/dev --component python --prefix "$made/tree/collage" >/dev/null
# Run paths to the parts of this machine mean nothing elsewhere.
PATH="$(part_dir wheel-tools)/bin:$PATH"
find "$made/tree" -type f \( -name '*.so*' -o -name collage-worker \) | while read -r file; do
  strip --strip-debug "$file"
  run_path="$(patchelf --print-rpath "$file" | tr : '\n' | grep '^\$ORIGIN' | paste -sd: || true)"
  patchelf --set-rpath "$run_path" "$file"
done

"$tools_python" - "$made/tree" <<'PYTHON'
import sys, sysconfig
from scikit_build_core.build import prepare_metadata_for_build_wheel
print("--", prepare_metadata_for_build_wheel(sys.argv[1]), file=sys.stderr)
PYTHON
"$tools_python" -m wheel pack --dest-dir "$made" "$made/tree" >&2
"$tools_python" -m auditwheel repair --plat "$PLATFORM" --wheel-dir "$out" \
  --exclude 'libonnxruntime.so*' --exclude 'libopenvino.so*' --exclude 'libHalide.so*' "$made"/collage-*.whl >&2
rm -rf "$made"
ls "$out"/collage-*.whl
