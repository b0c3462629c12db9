// Analyses what a region computes, in terms of this backend: a product of two factors, an addend, an activation.
// In:  a graph and a region. Out: an Analysis, or the reason why this backend does not support the region.
// Cost: one pass over the region's nodes.
// Not here: formats and strides (lower.h).
// Source: the operators' definitions in ONNX, and in ONNX Runtime's contributed operators for FusedMatMul.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "region/refusal.h"
#include "region/region.h"

namespace collage::blas {

enum class Head : std::uint8_t {
  kMatMul,      ///< MatMul and FusedMatMul: batches as numpy broadcasts them
  kGemm,        ///< two matrices
  kConvolution  ///< of one pixel: pixels by input channels times input channels by output channels
};

/// A factor: the value read, and the order in which its axes are seen.
struct Factor {
  ValueId value;
  std::vector<std::int64_t> order;  ///< empty = as they are
};

/// What is added to the product.
struct Term {
  ValueId value;
  float scale = 1.F;
  bool is_per_channel = false;  ///< the bias of a convolution, along axis 1; others broadcast as in numpy
};

struct Analysis {
  Head head = Head::kMatMul;
  Factor a;  ///< the activations of a convolution
  Factor b;  ///< its weights
  float alpha = 1.F;
  std::vector<Term> terms;
  bool relu = false;
  std::vector<std::int64_t> out_order;  ///< a Transpose at the end; empty = none
  ValueId product;                      ///< the head's output: the extents before out_order
};

[[nodiscard]] std::expected<Analysis, Refusal> analyse(const Graph& graph, const Region& region);

[[nodiscard]] inline std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}
[[nodiscard]] inline Extents extents_of(const Graph& graph, ValueId id) { return graph.value(id).type.extents(); }

}  // namespace collage::blas
