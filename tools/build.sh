# Setup, build, test and bench. Sourced by ./dev and tools/*.sh.

# Our C++ files, tracked or not yet.
sources() { git ls-files -co --exclude-standard -- 'src/*' 'backends/*' 'tests/*' 'bench/*' 'examples/*' 'python/*' | grep -E '\.(cpp|h)$'; }

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

# ensure_build_parts PRESET OPTIONS...: the front end, and the parts of each backend that is built.
ensure_build_parts() {
  local backend parts=(onnx nanobind)
  for backend in onnxruntime openvino; do
    if backend_on "$backend" "$@"; then parts+=("$backend"); fi
  done
  if backend_on native "$@"; then parts+=(halide); fi
  ensure_parts "${parts[@]}"
}

# What a build of PRESET needs: packages and parts.
ensure_build_needs() {
  ensure_packages
  ensure_build_parts "$@"
}

# Backends whose libraries are fetched only when they are named: ./dev setup NAME.
OPTIONAL_ENGINES=(onednn3 xnnpack mnn mkl tvm nvrtc)

# setup [OPTIONAL ENGINE...]
setup() {
  local engine
  for engine in "$@"; do
    [[ " ${OPTIONAL_ENGINES[*]} " = *" $engine "* ]] || die "no optional engine $engine; there are: ${OPTIONAL_ENGINES[*]}"
  done
  ensure_packages
  ensure_parts onnx onnxruntime openvino halide nanobind python onnx-cases hostile-cases demo-model tritonclient "$@"
  say "everything is in $COLLAGE_PREFIX"
}

# configure PRESET OPTIONS...: only when something asks for it; ninja notices changed CMake files by itself. Without the
# packages of tests there are no tests, until they are installed.
configure() {
  local preset="$1" cache="build/$1/CMakeCache.txt" parts="build/$1/.parts"
  shift
  local needs without="" tests=()
  if [ -n "$(missing_packages packages_tests)" ]; then
    without="no tests"
    tests=(-DCOLLAGE_TESTS=OFF -DCOLLAGE_BENCHMARKS=OFF)
  elif grep -q "^no tests" "$parts" 2>/dev/null; then
    tests=(-DCOLLAGE_TESTS=ON -DCOLLAGE_BENCHMARKS=ON)
  fi
  needs="$(echo "$without"; part_stamp onnx; part_stamp onnxruntime; part_stamp openvino; part_stamp halide; part_stamp nanobind; ls -d "$COLLAGE_PREFIX"/*-*; echo "$COLLAGE_PREFIX")"
  if [ $# = 0 ] && [ -f "build/$preset/build.ninja" ] && [ "$needs" = "$(cat "$parts" 2>/dev/null)" ]; then
    return
  fi
  if [ -n "$without" ]; then # where configuring fails, CMake remembers the options all the same
    mkdir -p "build/$preset"
    printf '%s\n' "$without" >"$parts"
  fi
  cmake --preset "$preset" -DCOLLAGE_PREFIX="$COLLAGE_PREFIX" "${tests[@]}" "$@" >&2
  [ -f "$cache" ] && printf '%s\n' "$needs" >"$parts"
}

# build [PRESET] [CMAKE OPTIONS...]: everything of it.
build() {
  local preset="${1:-dev}"
  case "$preset" in -*) preset=dev ;; *) [ $# = 0 ] || shift ;; esac
  ensure_build_needs "$preset" "$@"
  configure "$preset" "$@"
  cmake --build "build/$preset" --parallel "$JOBS" >&2
}

# build_targets PRESET TARGETS...
build_targets() {
  local preset="$1"
  shift
  ensure_build_needs "$preset"
  configure "$preset"
  cmake --build "build/$preset" --parallel "$JOBS" --target "$@" >&2
}

# The program and its backends alone, with the packages that they need; all else is built of the same objects.
build_program() {
  ensure_packages packages
  ensure_build_parts dev
  configure dev
  cmake --build build/dev --parallel "$JOBS" --target program >&2
}

# test_targets LABELS: what the tests of these labels are built by; labels are divided by |, none means all.
test_targets() {
  local label folder
  [ -n "$1" ] || { echo product tests/all; return; }
  for label in ${1//|/ }; do
    for folder in "tests/$label" "tests/backends/$label" tests; do
      if [ -f "$folder/CMakeLists.txt" ]; then break; fi
    done
    echo "$folder/all"
  done
}

# run_tests [LABELS] [-- CTEST OPTIONS...]: the last line is "N passed, N failed, N skipped".
run_tests() {
  local preset="${PRESET:-dev}" labels="" select=()
  if [ $# -gt 0 ] && [ "$1" != -- ]; then
    labels="$1"
    select=(--label-regex "^($labels)\$")
    shift
  fi
  [ "${1:-}" != -- ] || shift
  ensure_packages
  ensure_parts onnx-cases hostile-cases tritonclient & # beside compiling
  local cases=$!
  build_targets "$preset" $(test_targets "$labels")
  wait "$cases" || exit 1
  local models="$ROOT/../shared/models"
  if [ -z "${COLLAGE_MODELS:-}" ] && [ -d "$models" ]; then COLLAGE_MODELS="$(cd "$models" && pwd)"; fi
  export COLLAGE_MODELS="${COLLAGE_MODELS:-}"
  local results="$ROOT/build/$preset/results" status=0
  rm -rf "$results"
  mkdir -p "$results"
  ctest --preset "$preset" --parallel "$JOBS" --timeout 300 --output-junit "$results/entries.junit" "${select[@]}" "$@" || status=1
  if [ -s "$results/entries.junit" ]; then "$PYTHON" tools/count_tests.py "$results/entries.junit" "$results"; fi
  return "$status"
}

# run_benchmarks [FILTER]
run_benchmarks() {
  build_targets dev product bench/all
  local program
  for program in build/dev/bench/*; do
    if [ -f "$program" ] && [ -x "$program" ]; then
      say "$program"
      "$program" --benchmark_filter="${1:-.}"
    fi
  done
}
