#!/usr/bin/env bash
# ./dev doctor: what is here, with versions, and what is missing. Changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh

. /etc/os-release
echo "system      $PRETTY_NAME, $(nproc) cores"
echo "processor   $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
echo "packages"
wanted_packages | while read -r package; do
  version="$(dpkg-query -W -f='${db:Status-Status} ${Version}' "$package" 2>/dev/null | sed -n 's/^installed //p')" || true
  printf '  %-22s %s\n' "$package" "${version:-MISSING: ./dev setup}"
done
echo "parts in $COLLAGE_PREFIX"
for part in cmake onnx onnxruntime openvino halide nanobind python onnx-cases hostile-cases demo-model tritonclient onednn3 xnnpack mnn mkl tvm nvrtc wheel-tools site-tools spdx; do
  state="missing, fetched when first needed"
  if part_ready "$part"; then state="$(basename "$(part_dir "$part")")"; fi
  printf '  %-22s %s\n' "$part" "$state"
done
echo "models      ${COLLAGE_MODELS:-$(ls -d ../shared/models 2>/dev/null || echo 'none: model tests are skipped; set COLLAGE_MODELS')}"
if [ -x build/dev/bin/collage ]; then build/dev/bin/collage backends || true; fi
