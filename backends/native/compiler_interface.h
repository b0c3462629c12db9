// The interface between the backend's module and its compiler, which is a separate library so that plans run without
// it.
// In:  graphs and regions, or tensor code of other backends. Out: variants, artifacts.
// Threads: all functions may be called from several threads, compile() from one at a time. They catch all exceptions of
//       the compiler.
#pragma once

#include "backend/backend.h"
#include "backend/extensions/open_compiler.h"
#include "backend/strategy.h"
#include "backend/tensor_code.h"
#include "cuda_program.h"
#include "instruction_set.h"

namespace collage::native {

/// The built-in families with implementations from elsewhere in their tables.
struct Families;

/// What is compiled for, and with what.
struct Target {
  const InstructionSet& set;
  const Families* families = nullptr;  ///< null: the built-in ones alone
};

struct CompilerTable {
  std::string_view version;
  std::expected<std::vector<Variant>, Refusal> (*support)(const Graph& graph, const Region& region,
                                                          const CompileOptions& options, const Target& target);
  std::vector<std::expected<Artifact, Refusal>> (*compile)(std::span<const CompileRequest> requests,
                                                           const CompileOptions& options, const Target& target);
  std::vector<std::expected<Artifact, Refusal>> (*codegen)(std::span<const collage::TensorCode> codes,
                                                           const CompileOptions& options, const InstructionSet& set);
  std::expected<std::vector<std::string>, Refusal> (*set_candidates)(const OpenRequest& request,
                                                                     const CompileOptions& options,
                                                                     const Target& target);
  std::expected<Artifact, Refusal> (*compile_set)(const OpenRequest& request, std::span<const std::string> kernels,
                                                  std::span<const KernelCase> cases, const CompileOptions& options,
                                                  const Target& target);
  /// One shared object of these object files and the runtime. Error native/link-failed.
  Result<std::string> (*link)(std::span<const std::string_view> objects);
  std::vector<StrategyLine> (*strategies)(const Families* families);
  std::optional<TuningSpace> (*tuning_space)(const Graph& graph, const Region& region, const Variant& variant,
                                             const CompileOptions& options, const Target& target);
  /// With the rows of these shared libraries (compiler/selection/strategy_module.h), which stay loaded. Error
  /// backend/bad-strategies: which file does not fit, and why.
  Result<std::shared_ptr<const Families>> (*families_with)(std::span<const std::string> files);
  /// For a GPU (compiler/cuda/regions.h).
  std::expected<std::vector<Variant>, Refusal> (*cuda_variants)(const Graph& graph, const Region& region,
                                                                const CompileOptions& options);
  std::expected<CudaProgram, Refusal> (*cuda_program)(const CompileRequest& request, const CompileOptions& options);
};

inline constexpr const char* kCompilerSymbol = "collage_native_compiler";
using CompilerEntry = const CompilerTable* (*)();

}  // namespace collage::native
