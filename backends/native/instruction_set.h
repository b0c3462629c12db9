// The instruction sets for which kernels are compiled, and those that this processor supports.
// In:  the processor's feature bits. Out: rows of a small table, best first.
// How: an artifact names the row for which it was compiled. load() checks it, so that no kernel runs on a processor
//       that lacks one of its instructions. The environment variable COLLAGE_INSTRUCTION_SETS overrides the answer for
//       tests.
// Cost: reads the feature bits once.
// Source: the x86-64 micro-architecture levels of the System V psABI, and Halide's target features.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace collage::native {

struct InstructionSet {
  std::string_view name;    ///< in artifacts and options: "avx512"
  std::string_view target;  ///< Halide's features for it
  int vector_bytes = 16;    ///< of one register
  int registers = 16;       ///< vector registers
  bool has_dot_i8 = false;  ///< four products of bytes summed in one instruction
  bool has_bf16 = false;    ///< two products of bfloat16 numbers, likewise
};

/// All that this program can compile for, best first.
[[nodiscard]] std::span<const InstructionSet> all_instruction_sets();
/// The row of that name; null for other names.
[[nodiscard]] const InstructionSet* instruction_set_of(std::string_view name);
/// Whether this processor, and the system's saving of registers, allow it.
[[nodiscard]] bool runs_here(const InstructionSet& set);
/// The least that kernels are compiled for.
[[nodiscard]] const InstructionSet& baseline_instruction_set();
/// The best of this processor; null when it has not even the least.
[[nodiscard]] const InstructionSet* best_instruction_set();

}  // namespace collage::native
