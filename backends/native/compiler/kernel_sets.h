// Sets of kernels for regions with open dimensions: which are worth measuring, and the artifact of some of them.
// In: a region, its domain. Out: names; an artifact.
// How: the strategies look at the region at sample points of the domain; the variants that they offer there are
//      written with open dimensions. A variant that needs a least extent is offered twice: with a guard, and, marked
//      "/any", in a form that takes every shape.
// Cost: of names microseconds a point, of an artifact 0.2 s a kernel.
// Source: operator strategies; the multi-versioning of Halide's specialize().
#pragma once

#include "compiler/codegen/lowering.h"
#include "compiler_interface.h"

namespace collage::native {

[[nodiscard]] std::expected<std::vector<std::string>, Refusal> set_candidates(const OpenRequest& request,
                                                                              const CompileOptions& options,
                                                                              const Target& target);

/// What Halide throws is for the caller to guard against.
[[nodiscard]] std::expected<Artifact, Refusal> compile_set(const OpenRequest& request,
                                                           std::span<const std::string> kernels,
                                                           std::span<const KernelCase> cases,
                                                           const CompileOptions& options, const Target& target);

}  // namespace collage::native
