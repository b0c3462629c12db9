#!/usr/bin/env bash
# ./dev coverage [run]: writes docs/COVERAGE.md from the conformance suite's files. With `run`, tests/conformance/official.txt is
# written first, by ONNX Runtime's Python package: that of the pinned release, in a folder of PYTHONPATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh

case "${1:-}" in
  "") ;;
  run)
    ensure_parts python
    python="$(part_dir python)/bin/python"
    "$python" -c 'import onnxruntime' 2>/dev/null || die "no Python package onnxruntime: pip install --no-deps --target FOLDER" \
      "onnxruntime==$(part_version onnxruntime) flatbuffers packaging, then PYTHONPATH=FOLDER ./dev coverage run"
    "$python" tools/onnxruntime_cases.py
    ;;
  *) die "coverage takes 'run' or nothing, not $1" ;;
esac
exec "$PYTHON" tools/coverage.py
