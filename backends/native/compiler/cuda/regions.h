// Regions as CUDA C: which strategies' tensor code kernels of a GPU are written from.
// In:  a graph, a region, a variant. Out: variants; a CudaProgram.
// How: strategies see a machine whose vectors have one number, so that no sum is cut into lanes. Variants are those of
//       the strategies; where sums may be few and long they have two forms: "rows.plain@threads", "rows.plain@blocks".
#pragma once

#include <expected>
#include <vector>

#include "backend/backend.h"
#include "cuda_program.h"

namespace collage::native::cuda {

/// Refusal: why no strategy takes the region. Whether its code can be written is told by program_of().
[[nodiscard]] std::expected<std::vector<Variant>, Refusal> variants_of(const Graph& graph, const Region& region,
                                                                       const CompileOptions& options);

/// Halide's errors are thrown. `name` begins the names of kernels.
[[nodiscard]] std::expected<CudaProgram, Refusal> program_of(const CompileRequest& request,
                                                             const CompileOptions& options, const std::string& name);

}  // namespace collage::native::cuda
