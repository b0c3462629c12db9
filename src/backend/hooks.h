// What a backend outside this tree registers: a table of hooks, each optional, of which an adapter makes a Backend.
// In: a module's table. Out: a checked copy of it.
// How: a module exports `const collage::BackendHooks* collage_backend_hooks()` with C linkage. Size and version come
//      first, so that a table of another version is known before anything else of it is looked at; hooks past the end
//      of a shorter table are absent. The hooks take our C++ values: a module is built with the compiler of the
//      program. All regions chosen for an instance come at once, so that they can share weights, tuning and one
//      compiled unit. Exceptions that leave a hook become refusals or errors.
// Not here: what the adapter does with them (hooked_backend.h), how modules are found (registry.h).
// Source: TVM's RFC 10: compile is RelayToRuntime, lower RelayToTIR, codegen TIRToRuntime, prepare_constants
//         UpdateConstants.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/extensions/constants_extension.h"
#include "backend/extensions/link_extension.h"
#include "backend/registry.h"
#include "backend/tensor_code.h"

namespace collage {

/// Raised whenever a type that hooks take or give changes.
inline constexpr std::uint32_t kHooksVersion = 3;

/// There must be a way to an artifact (compile or lower), a kernel for it (load, for what compile and codegen make),
/// and something it takes (rules or support).
struct BackendHooks {
  std::uint32_t struct_size = sizeof(BackendHooks);
  std::uint32_t abi_version = kHooksVersion;
  const char* kind = nullptr;  ///< as in the file's name, libcollage_backend_<kind>.so

  /// Usable here? If not, why, in `unusable`. Name and kind are filled in; an empty build becomes a hash of the
  /// module's file. Without it the backend has no options and is usable.
  BackendInfo (*probe)(const BackendOptions& options) = nullptr;

  /// Which regions it wants to be asked about: patterns as text, growth, rules as values. Without it single operators.
  PartitionRules (*rules)(const BackendOptions& options) = nullptr;

  /// As Backend::support. Without it: what its patterns match, in plain formats, as a variant named by the label.
  std::expected<std::vector<Variant>, Refusal> (*support)(const BackendOptions& options, const Graph& graph,
                                                          const Region& region,
                                                          const CompileOptions& compile_options) = nullptr;

  /// Regions to artifacts in one go; one result for each, in order.
  std::vector<std::expected<Artifact, Refusal>> (*compile)(const BackendOptions& options,
                                                           std::span<const CompileRequest> requests,
                                                           const CompileOptions& compile_options) = nullptr;

  /// Regions to tensor code; one result for each, in order. What it refuses goes to `compile` when there is one.
  std::vector<std::expected<TensorCode, Refusal>> (*lower)(const BackendOptions& options,
                                                           std::span<const CompileRequest> requests,
                                                           const CompileOptions& compile_options) = nullptr;

  /// Tensor code of `lower` to artifacts; one result for each, in order. Without it the program's own code generator.
  std::vector<std::expected<Artifact, Refusal>> (*codegen)(const BackendOptions& options,
                                                           std::span<const TensorCode> codes,
                                                           const CompileOptions& compile_options) = nullptr;

  /// As ConstantsExtension::prepare_constants, for artifacts of `compile` and `codegen`; one result for each kernel, in
  /// order.
  std::vector<MaybePrepared> (*prepare_constants)(const BackendOptions& options,
                                                  std::span<const LoadRequest> kernels) = nullptr;

  /// As Backend::load, for artifacts of `compile` and `codegen`. An artifact whose compatibility is empty is loaded by
  /// the build that made it only; others are for the hook to check.
  Result<std::unique_ptr<Kernel>> (*load)(const BackendOptions& options, const LoadRequest& request) = nullptr;

  /// As LinkExtension::link, for artifacts of `compile` and `codegen`. Without it each kernel stays its own artifact.
  Result<LinkedKernels> (*link)(const BackendOptions& options, std::span<const LoadRequest> kernels) = nullptr;
};

/// The symbol that gives a module's table.
inline constexpr const char* kHooksSymbol = "collage_backend_hooks";
using HooksEntry = const BackendHooks* (*)();

/// A copy of a table that can be used. Error backend/unusable at `where`: another size or version, a hook that is
/// missing for what the others say.
[[nodiscard]] Result<BackendHooks> checked_hooks(const BackendHooks* table, const std::string& where);

}  // namespace collage
