#!/usr/bin/env bash
# ./dev soak [NAME]: a test that draws at random or tries all of many, at full length. ./dev test runs a sample of each.
# PRESET=asan or tsan runs it under sanitisers. Seeds are fixed in the tests; COLLAGE_TEST_SEED gives another where a test takes one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh
source tools/build.sh

# NAME PROGRAM FILTER WHAT
campaigns() {
  cat <<'TEXT'
cap         cli_test           *CapOfMemory*                      a cap of memory that costs time, on a model of $COLLAGE_MODELS
bounds      tune_test          *RandomBounds.*                    fifty tunes in class fast with random bounds on outputs
brute-force search_test        *BruteForce*                       covers against all schedules of ten thousand graphs
chaos       tune_test          Chaos.*                            20 kinds of misbehaviour of a backend at 6 stages
conformance conformance_test   *                                  every case and variant of operators on every backend
cycles      api_c_load_test    Stress.Cycles*:Stress.Weights*     10,000 times load, run, free: nothing is kept
damage      cli_test           Damage*                            damaged models and plans
flips       plan_test          PlanFile.*                         every byte of a plan flipped
faults      cli_test           FaultsTest.*                       every system call of a tune fails in turn
fusion      native_test        *RandomFusion*:*Program*           random fused regions and damaged programs of native
gate        gate_test          *                                  planted miscompiles, random networks
kernels     native_test        OpenKernels.*:NativeKernel.*:Cases/*:Kernels/*:Lengths/*  every kernel of open and closed regions
imports     onnx_test          HostileFiles.*:Mutants.*:BrokenBytes.* hostile files, mutants of models, every truncation and flipped bit of small ones
numbers     tune_test      MutantNumbers.*                   10,000 mutants of real models: imported, they give what ONNX Runtime gives
mutations   api_c_load_test    *Mutated*                          2,000 mutations of each plan in memory
pricing     tune_test          LazyPricing.*                      how near lazy measuring comes to measuring everything
power-loss  store_faults_test  PowerLoss*:StoreFaults*            power losses and failing disks under the store
readers     readers_test       Readers/Mutants.*               20,000 mutants of each form that is read, every flipped bit of a sample
commands    cli_test           MutantsTest.*                   commands on mutants of plans, stores, arrays, rules, costs
repro       measure_test       ReproDamage.*                      damaged reproductions
resume      cli_test           ResumeTest.*                       tunes killed at any moment and resumed
surroundings api_c_load_test   Surroundings.*                     storms of signals and other odd surroundings of a run
threads     api_c_load_test    Stress.Eight*:Stress.Sessions*:Stress.Plans*  8 threads, 10,000 runs each; sessions that end in any order
tuners      measure_test       Tuners.*                           tuners that share a store and are killed
TEXT
}

if [ $# = 0 ]; then
  campaigns | awk '{ name = $1; $1 = $2 = $3 = ""; sub(/^ +/, ""); printf "%-12s %s\n", name, $0 }'
  exit
fi
read -r name program filter _ < <(campaigns | awk -v name="$1" '$1 == name') || die "no campaign $1; ./dev soak lists them"
preset="${PRESET:-dev}"
build_targets "$preset" product "$program"
say "$name: $program, $filter"
export COLLAGE_MODELS="${COLLAGE_MODELS:-$ROOT/../shared/models}"
export LSAN_OPTIONS="suppressions=$ROOT/tests/support/lsan.supp:print_suppressions=0"
cd "build/$preset/tests"
COLLAGE_LONG=1 exec "./$program" --gtest_filter="$filter"
