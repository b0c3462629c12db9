// Compiles sets of kernels for regions with open dimensions: lists those worth measuring, and makes the artifact of
// selected ones.
// In:  a region, its domain. Out: names; an artifact.
// How: the strategies examine the region at sample points of the domain. The variants that they offer there are
//       compiled with open dimensions. A variant that needs a minimum extent is offered twice: with a guard; and,
//       marked "/any", in a form that supports every shape.
// Cost: microseconds for the names at each point, 0.2 s for each kernel of an artifact.
// Source: operator strategies; the multi-versioning of Halide's specialize().
#pragma once

#include "compiler/codegen/lowering.h"
#include "compiler_interface.h"

namespace collage::native {

[[nodiscard]] std::expected<std::vector<std::string>, Refusal> set_candidates(const OpenRequest& request,
                                                                              const CompileOptions& options,
                                                                              const Target& target);

/// Variants for a region of open inputs without a domain, in plain format on open ports: the strategies' at the extents
/// of the recorded run. Each supports every shape. Nothing is compiled.
[[nodiscard]] std::expected<std::vector<Variant>, Refusal> open_variants(const Graph& graph, const Region& region,
                                                                         const CompileOptions& options,
                                                                         const Target& target);

/// An artifact of one of these variants.
[[nodiscard]] std::expected<Artifact, Refusal> compile_open(const CompileRequest& request,
                                                            const CompileOptions& options, const Target& target);

/// What Halide throws is for the caller to guard against.
[[nodiscard]] std::expected<Artifact, Refusal> compile_set(const OpenRequest& request,
                                                           std::span<const std::string> kernels,
                                                           std::span<const KernelCase> cases,
                                                           const CompileOptions& options, const Target& target);

}  // namespace collage::native
