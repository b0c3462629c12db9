// From what a region computes to a product of strided operands, in one choice of formats.
// In: graph, region, Analysis, the format of activations. Out: Lowered, or why BLAS cannot take it so.
// Cost: a few passes over the axes of its values.
// Not here: reading the region (analysis.h), text of the program (program.h).
// Source: numpy's rules of broadcasting; a convolution of one pixel as a product.
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
