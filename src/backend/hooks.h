// The table of hooks through which a backend outside this tree is registered. Every hook is optional; an adapter makes
// a Backend from the table.
// In:  a module's table. Out: a checked copy of it.
// How: a module exports `const collage::BackendHooks* collage_backend_hooks()` with C linkage. Size and version are the
//       first members, so that a table of another version is recognised before the rest is read; hooks beyond the end
//       of a shorter table are absent. Hooks exchange C++ values with the program, so a module is built with the
//       program's compiler. All regions chosen for an instance are passed in one call, so that they can share weights,
//       tuning and one compiled unit. Exceptions thrown by a hook become refusals or errors.
// Not here: what the adapter does with the hooks (hooked_backend.h), how modules are found (registry.h).
// Source: TVM's RFC 10: compile is RelayToRuntime, lower RelayToTIR, codegen TIRToRuntime, prepare_constants
//       UpdateConstants.
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

/// Incremented when a type of the hooks' arguments or results changes.
inline constexpr std::uint32_t kHooksVersion = 4;

/// Required are a way to make artifacts (compile or lower), a way to load them (load, for artifacts of compile and
/// codegen), and regions that are supported (rules or support).
struct BackendHooks {
  std::uint32_t struct_size = sizeof(BackendHooks);
  std::uint32_t abi_version = kHooksVersion;
  const char* kind = nullptr;  ///< as in the file's name, libcollage_backend_<kind>.so

  /// Whether it can be used on this machine; if not, `unusable` says why. Name and kind are filled in; an empty build
  /// becomes a hash of the module's file. Without it the backend has no options and is usable.
  BackendInfo (*probe)(const BackendOptions& options) = nullptr;

  /// The regions that it is asked about: patterns as text, growth, rules as values. Without it single operators.
  PartitionRules (*rules)(const BackendOptions& options) = nullptr;

  /// As Backend::support. Without it: what its patterns match, in plain formats, as a variant named by the label.
  std::expected<std::vector<Variant>, Refusal> (*support)(const BackendOptions& options, const Graph& graph,
                                                          const Region& region,
                                                          const CompileOptions& compile_options) = nullptr;

  /// Compiles regions to artifacts in one call; one result for each, in order.
  std::vector<std::expected<Artifact, Refusal>> (*compile)(const BackendOptions& options,
                                                           std::span<const CompileRequest> requests,
                                                           const CompileOptions& compile_options) = nullptr;

  /// Lowers regions to tensor code; one result for each, in order. Refused regions go to `compile` if there is one.
  std::vector<std::expected<TensorCode, Refusal>> (*lower)(const BackendOptions& options,
                                                           std::span<const CompileRequest> requests,
                                                           const CompileOptions& compile_options) = nullptr;

  /// Compiles tensor code of `lower` to artifacts; one result for each, in order. Without it the program's own code
  /// generator does.
  std::vector<std::expected<Artifact, Refusal>> (*codegen)(const BackendOptions& options,
                                                           std::span<const TensorCode> codes,
                                                           const CompileOptions& compile_options) = nullptr;

  /// As ConstantsExtension::prepare_constants, for artifacts of `compile` and `codegen`; one result for each kernel, in
  /// order.
  std::vector<MaybePrepared> (*prepare_constants)(const BackendOptions& options,
                                                  std::span<const LoadRequest> kernels) = nullptr;

  /// As Backend::load, for artifacts of `compile` and `codegen`. An artifact whose compatibility is empty is loaded by
  /// the build that made it only; the hook checks others itself.
  Result<std::unique_ptr<Kernel>> (*load)(const BackendOptions& options, const LoadRequest& request) = nullptr;

  /// As LinkExtension::link, for artifacts of `compile` and `codegen`. Without it each kernel stays its own artifact.
  Result<LinkedKernels> (*link)(const BackendOptions& options, std::span<const LoadRequest> kernels) = nullptr;
};

/// The symbol of the function that returns a module's table.
inline constexpr const char* kHooksSymbol = "collage_backend_hooks";
using HooksEntry = const BackendHooks* (*)();

/// A validated copy of a table. Error backend/unusable at `where`: another size or version, or a required hook is
/// missing.
[[nodiscard]] Result<BackendHooks> checked_hooks(const BackendHooks* table, const std::string& where);

}  // namespace collage
