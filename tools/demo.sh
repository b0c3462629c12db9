#!/usr/bin/env bash
# ./dev demo: tunes a text detector, proves the plan, and compares it with the engines that could run it alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh
source tools/build.sh

ensure_packages packages
ensure_parts demo-model & # beside compiling
model_part=$!
build_program
wait "$model_part"
collage="$ROOT/build/dev/bin/collage"
model="$(part_dir demo-model)/PP-OCRv6_det_small.onnx"
work="$ROOT/build/demo"
mkdir -p "$work"
cd "$work"

step() { printf '\n$ collage %s\n' "${*//$COLLAGE_PREFIX/PARTS}"; "$collage" "$@"; }

step backends
step tune "$model" --shape x=1x3x640x640 --threads "${COLLAGE_THREADS:-1}" --budget "${COLLAGE_BUDGET:-60s}" \
  --store "sqlite:$work/costs.sqlite" -o ppocr_det.collage
step verify ppocr_det.collage
step bench ppocr_det.collage --against onnxruntime,openvino
say "the plan is $work/ppocr_det.collage"
