#!/usr/bin/env bash
# ./dev fuzz [READER|all] [SECONDS]: coverage-guided fuzzing of what reads others' bytes (tests/readers), with Clang's
# libFuzzer and sanitisers; without a reader lists them. `all` fuzzes as many readers at a time as there are processors, each
# for SECONDS. COLLAGE_TEST_SEED is the seed, by default another one each time; COLLAGE_FUZZ_INPUTS the most inputs of each
# reader, so that with a seed and an empty corpus a machine that is faster sees no others. Found inputs stay in build/fuzz/corpus,
# findings in build/fuzz/findings. The last line is "N passed, N failed, N skipped", in readers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh
source tools/build.sh

seconds="${2:-60}"
export CXX=clang++-19 # older ones have no std::expected
if ! command -v "$CXX" >/dev/null || ! ls /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-* >/dev/null 2>&1; then
  install_packages clang-19 libclang-rt-19-dev libomp-19-dev
fi
build_targets fuzz fuzz_readers
program="build/fuzz/tests/fuzz_readers"
names="$(COLLAGE_READER='' "$program" 2>&1 | sed -n 's/^COLLAGE_READER is none of //p' || true)"
if [ $# = 0 ]; then
  printf '%s\n' $names
  exit
fi
[ "$1" = all ] || names="$1"

export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:intercept_tls_get_addr=0"
export UBSAN_OPTIONS="print_stacktrace=1"

# fuzz_reader NAME: prints what was seen; the status is 0, 1 for a finding, 77 for a reader that cannot be fuzzed here.
fuzz_reader() {
  local name="$1" code=0
  local corpus="build/fuzz/corpus/$name" findings="build/fuzz/findings/$name" seeds="build/fuzz/seeds/$name"
  local log="build/fuzz/$name.log"
  mkdir -p "$corpus" "$findings"
  COLLAGE_READER="$name" COLLAGE_FUZZ_SEEDS="$seeds" "$program" -runs=0 >"$log" 2>&1 || code=$?
  if [ "$code" = 77 ]; then
    say "$name: $(tail -n 1 "$log")"
    return 77
  fi
  code=0
  # Kernels and servers have threads of their own, so one process for each reader.
  COLLAGE_READER="$name" "$program" -seed="${COLLAGE_TEST_SEED:-0}" -runs="${COLLAGE_FUZZ_INPUTS:--1}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=3072 -malloc_limit_mb=2048 \
    -max_len=262144 -print_final_stats=1 -artifact_prefix="$findings/" "$corpus" "$seeds" >"$log" 2>&1 || code=$?
  local runs edges
  runs="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  edges="$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)"
  if [ "$code" = 0 ]; then
    say "$name: ${runs:-0} inputs in $seconds s, ${edges:-0} edges, no finding"
  else
    say "$name: a finding after ${runs:-some} inputs: $(grep -m 1 -E 'ERROR|SUMMARY|error\[' "$log" || tail -n 1 "$log"); see $log and $findings"
    grep -m 12 -E '^ +#[0-9]+ ' "$log" || true # where, for who sees this output alone
    return 1
  fi
}

passed=0 failed=0 skipped=0
# ended: waits for the next reader that ends and counts it.
ended() {
  local code=0
  wait -n || code=$?
  case "$code" in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
  esac
}
running=0
for name in $names; do
  if [ "$running" = "$JOBS" ]; then
    ended
    running=$((running - 1))
  fi
  fuzz_reader "$name" &
  running=$((running + 1))
done
for ((; running > 0; running--)); do ended; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
