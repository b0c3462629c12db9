// Analyses what a region computes, in terms of this backend: a head operator, what is folded into it, and a chain of
// steps after it.
// In:  a graph and a region. Out: an Analysis, or the reason why this backend does not support the region. No library
//       calls.
// Not here: formats and tensors (lower.h).
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/steps.h"
#include "backend/backend.h"
#include "backends/common/quantised/bytes.h"
#include "backends/common/window/window.h"

namespace collage::onednn {

/// A convolution of both kinds. Weights and bias are constants.
struct ConvolutionFacts {
  ValueId source, weights, bias;
  std::int64_t groups = 1;
  Window window;
  Extents in, out;  ///< extents of the activations
  [[nodiscard]] std::int64_t in_channels() const { return in[1]; }
  [[nodiscard]] std::int64_t out_channels() const { return out[1]; }
  [[nodiscard]] bool is_depthwise() const { return groups > 1 && groups == in[1] && groups == out[1]; }
};

/// One side of a product: the value read, and the order in which its axes are seen (a Transpose folded in).
struct Factor {
  ValueId value;
  std::vector<std::int64_t> order;  ///< empty = as it is
};

struct MatMulFacts {
  Factor a, b;
  ValueId bias;  ///< Gemm's third input when constant
  float alpha = 1.F;
  float beta = 1.F;
  std::vector<std::int64_t> out_order;  ///< a Transpose after the chain; empty = none
};

struct PoolingFacts {
  ValueId source;
  std::string algorithm;  ///< "max", "avg_include_padding", "avg_exclude_padding"
  Window window;
  float factor = 1.F;  ///< what the average is multiplied by: the pixels, for a sum
};

/// A product of bytes: what its factors stand for, and its result, when that is bytes too. Its bias is none of the
/// head's.
struct ByteFacts {
  Bytes source, weights;
  std::optional<Bytes> result;
  std::vector<double> bias;  ///< real numbers, of each output; empty for none
};

/// What the region is built around: the operator that the library has a primitive for, with its parameters.
struct ElementwiseHead {};  ///< none: the chain starts at an input of the region

/// A depthwise convolution behind the first one and its chain.
struct SecondConvolution {
  Chain before;  ///< between the two convolutions
  ConvolutionFacts facts;
};
struct ConvolutionHead {
  ConvolutionFacts facts;
  std::optional<SecondConvolution> second;
};
struct SeriesHead {};  ///< convolutions one after another, which Analysis::makers lists
struct DeconvolutionHead {
  ConvolutionFacts facts;
};
struct ConcatHead {
  std::int64_t axis = 0;
};
struct ResamplingHead {
  std::string algorithm;                      ///< "nearest", "linear", "products"
  std::vector<std::vector<float>> positions;  ///< "products": where each output pixel lies in the input, by axis
};
struct SoftmaxHead {
  std::int64_t axis = 0;
  std::string algorithm;  ///< "accurate", "log"
};
struct LayerNormHead {};
struct BatchNormHead {};
struct ReductionHead {
  std::vector<std::int64_t> axes;
  std::string algorithm;  ///< the library's name for the reduction
};
struct LrnHead {};

using Head =
    std::variant<ElementwiseHead, ConvolutionHead, SeriesHead, DeconvolutionHead, MatMulFacts, PoolingFacts, ConcatHead,
                 ResamplingHead, SoftmaxHead, LayerNormHead, BatchNormHead, ReductionHead, LrnHead>;

struct Analysis {
  Head head;
  const Node* node = nullptr;           ///< the head's node; null for ElementwiseHead
  ValueId source;                       ///< the head's first computed input
  ValueId head_result;                  ///< where the chain starts
  std::optional<ByteFacts> bytes = {};  ///< of a convolution or product of bytes
  Chain chain;
  /// The convolutions before a Concat whose results are its parts, or are read by others of them; or all convolutions
  /// of a series. In order, each with a ConvolutionHead.
  std::vector<Analysis> makers;

  template <class Kind>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<Kind>(head);
  }
  template <class Kind>
  [[nodiscard]] const Kind& as() const {
    return std::get<Kind>(head);
  }
};

/// Of a convolution or a transposed convolution.
[[nodiscard]] inline const ConvolutionFacts& convolution_of(const Analysis& analysis) {
  const auto* const transposed = std::get_if<DeconvolutionHead>(&analysis.head);
  return transposed != nullptr ? transposed->facts : analysis.as<ConvolutionHead>().facts;
}
/// The convolution behind the first one; null when there is none.
[[nodiscard]] inline const SecondConvolution* second_of(const Analysis& analysis) {
  const auto* const first = std::get_if<ConvolutionHead>(&analysis.head);
  return first != nullptr && first->second ? &*first->second : nullptr;
}

[[nodiscard]] std::expected<Analysis, Refusal> analyse(const Graph& graph, const Region& region);

}  // namespace collage::onednn
