// Lowers an analysed region to a product of strided operands, for given formats.
// In:  a graph, a region, its Analysis, the format of activations. Out: Lowered, or why BLAS cannot compute it in these
//       formats.
// Cost: a few passes over the axes of its values.
// Not here: analysing the region (analysis.h), text of the program (program.h).
// Source: NumPy's broadcasting rules; a 1x1 convolution is a product.
#pragma once

#include <utility>

#include "analysis.h"
#include "product.h"
#include "region/format.h"

namespace collage::blas {

struct Lowered {
  Product product;
  std::vector<ValueId> constants;     ///< what sources past the region's inputs stand for
  std::vector<Format> input_formats;  ///< one per input of the region
  Format output_format;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place;  ///< as of Artifact
};

/// `format` is plain() for all but convolutions.
[[nodiscard]] std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, const Analysis& analysis,
                                                    const Format& format);

}  // namespace collage::blas
