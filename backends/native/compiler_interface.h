// What the module asks of the compiler, which lies in a library of its own so that running plans needs none of it.
// In: graphs and regions, or tensor code of others. Out: variants, artifacts. All functions catch what the compiler
// throws. Threading: all may be called from many threads, compile() one at a time. Source: ours.
#pragma once

#include "backend/backend.h"
#include "backend/tensor_code.h"
#include "instruction_set.h"

namespace collage::native {

/// What one implementation of one operator is, for people.
struct StrategyLine {
  std::string family;          ///< "convolution"
  std::string implementation;  ///< "direct"
  std::string condition;       ///< when it applies: "always", "kernel == 3 and ..."
  int priority = 0;            ///< orders what was never measured, highest first
  std::string operators;       ///< "Conv"
};

struct CompilerTable {
  std::string_view version;
  std::expected<std::vector<Variant>, Refusal> (*support)(const Graph& graph, const Region& region,
                                                          const CompileOptions& options, const InstructionSet& set);
  std::vector<std::expected<Artifact, Refusal>> (*compile)(std::span<const CompileRequest> requests,
                                                           const CompileOptions& options, const InstructionSet& set);
  std::vector<std::expected<Artifact, Refusal>> (*codegen)(std::span<const collage::TensorCode> codes,
                                                           const CompileOptions& options, const InstructionSet& set);
  std::vector<StrategyLine> (*strategies)();
};

inline constexpr const char* kCompilerSymbol = "collage_native_compiler";
using CompilerEntry = const CompilerTable* (*)();

/// "native/1 avx512": what an artifact of this build for these instructions says.
[[nodiscard]] inline std::string compatibility_of(std::string_view instruction_set) {
  return "native/1 " + std::string(instruction_set);
}

}  // namespace collage::native
