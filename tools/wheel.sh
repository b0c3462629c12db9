#!/usr/bin/env bash
# ./dev wheel [test]: a wheel of the objects of build/dev, or of another PRESET, in build/wheel. Libraries that a wheel may
# not assume are put into it; those of engines are not: they come with the packages of the extra `tune`. `test` makes it,
# installs it in an environment of its own and tries it, without and with the extra.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh
source tools/build.sh

PLATFORM=manylinux_2_36_x86_64 # Debian 12's C library
preset="${PRESET:-dev}"
out="$ROOT/build/wheel"
made="$out/work"
export PIP_DISABLE_PIP_VERSION_CHECK=1

# Run paths to the parts of this machine mean nothing elsewhere.
clean_library() {
  local run_path
  strip --strip-debug "$1"
  run_path="$(patchelf --print-rpath "$1" | tr : '\n' | { grep '^\$ORIGIN' || true; } | paste -sd:)"
  patchelf --set-rpath "$run_path" "$1"
}

make_wheel() {
  local python file
  build_targets "$preset" collage_python_wheel
  ensure_parts wheel-tools
  python="$(part_dir wheel-tools)/bin/python"
  PATH="$(part_dir wheel-tools)/bin:$PATH"
  rm -rf "$out"
  mkdir -p "$made/tree"
  cmake --install "build/$preset" --component python --prefix "$made/tree/collage" >/dev/null
  find "$made/tree" -type f \( -name '*.so*' -o -name collage-worker \) | while read -r file; do clean_library "$file"; done
  "$python" -c 'import sys, scikit_build_core.build as build; build.prepare_metadata_for_build_wheel(sys.argv[1])' \
    "$made/tree" >&2
  "$python" -m wheel pack --dest-dir "$made" "$made/tree" >&2
  "$python" -m auditwheel repair --plat "$PLATFORM" --only-plat --wheel-dir "$out" \
    --exclude 'libonnxruntime.so*' --exclude 'libopenvino.so*' --exclude 'libHalide.so*' "$made"/collage-*.whl >&2
  rm -rf "$made"
  ls "$out"/collage-*.whl
}

# Models and plans are made by the build, tried by the wheel.
test_wheel() {
  local tried="$out/tried" python wheel
  wheel="$(ls "$out"/collage-*.whl)"
  build_targets "$preset" product
  ensure_parts python
  rm -rf "$tried"
  mkdir -p "$tried"
  (cd tests/python && PYTHONDONTWRITEBYTECODE=1 "$(part_dir python)/bin/python" -c '
import pathlib, sys
from support import models
for name in ("increment", "detector"):
    pathlib.Path(sys.argv[1], name + ".onnx").write_bytes(getattr(models, name)())' "$tried")
  "build/$preset/bin/collage" tune "$tried/increment.onnx" -o "$tried/increment.collage" --only host --store memory: --quiet >&2
  "build/$preset/bin/collage" tune "$tried/detector.onnx" -o "$tried/detector.collage" --shape x=1x3x32x32 \
    --backends native,onednn --budget 5s --store memory: --quiet >&2
  "$PYTHON" -m venv "$tried/python"
  python="$tried/python/bin/python"
  "$python" -m pip install --quiet "$wheel" >&2
  (cd "$tried" && "$python" "$ROOT/tools/check_wheel.py" core "$tried")
  "$python" -m pip install --quiet "$wheel[tune]" >&2
  (cd "$tried" && "$python" "$ROOT/tools/check_wheel.py" tune "$tried")
}

make_wheel
case "${1:-}" in
  test) test_wheel ;;
  "") ;;
  *) die "wheel: saw $1; allowed nothing or test" ;;
esac
