# Setup, build, test and bench. Sourced by ./dev and tools/*.sh.

# Our C++ files, tracked or not yet.
sources() { git ls-files -co --exclude-standard -- 'src/*' 'backends/*' 'tests/*' 'bench/*' 'examples/*' | grep -E '\.(cpp|h)$'; }

# backend_on NAME PRESET OPTIONS...: is it in the tree and not switched off?
backend_on() {
  local name="$1" preset="$2" variable="COLLAGE_BACKEND_${1^^}"
  shift 2
  [ -f "backends/$name/CMakeLists.txt" ] || return 1
  case " $* " in
    *" -D$variable"*=OFF*) return 1 ;;
    *" -D$variable"*) return 0 ;;
  esac
  ! grep -q "^$variable:[A-Z]*=OFF" "build/$preset/CMakeCache.txt" 2>/dev/null
}

# What a build of PRESET needs: packages, the front end, and the parts of each backend that is built.
ensure_build_needs() {
  local backend
  ensure_packages
  ensure_parts onnx
  for backend in onnxruntime openvino; do
    if backend_on "$backend" "$@"; then ensure_parts "$backend"; fi
  done
  if backend_on native "$@"; then ensure_parts halide; fi
}

setup() {
  ensure_packages
  ensure_parts onnx onnxruntime openvino halide python onnx-cases demo-model
  say "everything is in $COLLAGE_PREFIX"
}

# configure PRESET OPTIONS...: only when something asks for it; ninja notices changed CMake files by itself.
configure() {
  local preset="$1" cache="build/$1/CMakeCache.txt"
  shift
  local needs
  needs="$(part_stamp onnx; part_stamp onnxruntime; part_stamp openvino; part_stamp halide; ls -d "$COLLAGE_PREFIX"/*-*; echo "$COLLAGE_PREFIX")"
  if [ $# = 0 ] && [ -f "build/$preset/build.ninja" ] && [ "$needs" = "$(cat "build/$preset/.parts" 2>/dev/null)" ]; then
    return
  fi
  cmake --preset "$preset" -DCOLLAGE_PREFIX="$COLLAGE_PREFIX" "$@" >&2
  [ -f "$cache" ] && printf '%s\n' "$needs" >"build/$preset/.parts"
}

# build [PRESET] [CMAKE OPTIONS...]
build() {
  local preset="${1:-dev}"
  case "$preset" in -*) preset=dev ;; *) [ $# = 0 ] || shift ;; esac
  ensure_build_needs "$preset" "$@"
  configure "$preset" "$@"
  cmake --build "build/$preset" --parallel "$JOBS" >&2
}

# The program and its backends alone.
build_product() {
  ensure_build_needs release
  configure release
  cmake --build build/release --parallel "$JOBS" --target product >&2
}

# run_tests [LABEL] [-- CTEST OPTIONS...]
run_tests() {
  local preset="${PRESET:-dev}" select=()
  if [ $# -gt 0 ] && [ "$1" != -- ]; then
    select=(--label-regex "^$1\$")
    shift
  fi
  [ "${1:-}" != -- ] || shift
  build "$preset"
  ensure_parts onnx-cases
  local models="$ROOT/../shared/models"
  if [ -z "${COLLAGE_MODELS:-}" ] && [ -d "$models" ]; then COLLAGE_MODELS="$(cd "$models" && pwd)"; fi
  export COLLAGE_MODELS="${COLLAGE_MODELS:-}"
  ctest --preset "$preset" --parallel "$JOBS" --timeout 300 "${select[@]}" "$@"
}

# run_benchmarks [FILTER]
run_benchmarks() {
  build release
  local program
  for program in build/release/bench/*; do
    if [ -f "$program" ] && [ -x "$program" ]; then
      say "$program"
      "$program" --benchmark_filter="${1:-.}"
    fi
  done
}
