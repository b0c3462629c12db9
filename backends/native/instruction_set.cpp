#include "instruction_set.h"

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace collage::native {
namespace {

// Halide ties dot products of bytes to whole processors, and LLVM then takes everything such a processor has: AMD's row
// may hold SSE4a, Intel's half-precision arithmetic. So there are two, and neither runs on the other's processors.
constexpr std::array<InstructionSet, 4> kSets = {{
    {.name = "avx512_fp16",
     .target = "x86-64-linux-avx512_sapphirerapids",
     .vector_bytes = 64,
     .registers = 32,
     .has_dot_i8 = true,
     .has_bf16 = true},
    {.name = "avx512_zen4",
     .target = "x86-64-linux-avx512_zen4",
     .vector_bytes = 64,
     .registers = 32,
     .has_dot_i8 = true,
     .has_bf16 = true},
    {.name = "avx512", .target = "x86-64-linux-avx512_skylake", .vector_bytes = 64, .registers = 32},
    {.name = "avx2", .target = "x86-64-linux-avx2-fma-f16c-avx-sse41", .vector_bytes = 32, .registers = 16},
}};

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16") &&
         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
         __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512bitalg") &&
         __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("gfni") &&
         __builtin_cpu_supports("vaes") && __builtin_cpu_supports("vpclmulqdq");
}

/// The compiler's own list of features has no name for it.
bool has_avx_vnni() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & (1U << 4)) != 0;
}

bool processor_has(std::string_view name) {
  if (name == "avx512_fp16") return has_avx512_vnni() && __builtin_cpu_supports("avx512fp16") && has_avx_vnni();
  if (name == "avx512_zen4") return has_avx512_vnni() && __builtin_cpu_supports("sse4a");
  if (name == "avx512") return has_avx512();
  return has_avx2();
}

}  // namespace

std::span<const InstructionSet> all_instruction_sets() { return kSets; }

const InstructionSet* instruction_set_of(std::string_view name) {
  const auto found = std::ranges::find(kSets, name, &InstructionSet::name);
  return found == kSets.end() ? nullptr : &*found;
}

const InstructionSet& baseline_instruction_set() { return kSets.back(); }

bool runs_here(const InstructionSet& set) {
  // A mask can only take away: what the processor lacks never runs.
  const char* forged = std::getenv("COLLAGE_INSTRUCTION_SETS");
  if (forged != nullptr &&
      (',' + std::string(forged) + ',').find(',' + std::string(set.name) + ',') == std::string::npos)
    return false;
  return processor_has(set.name);
}

const InstructionSet* best_instruction_set() {
  const auto found = std::ranges::find_if(kSets, runs_here);
  return found == kSets.end() ? nullptr : &*found;
}

}  // namespace collage::native
