// What a region computes, in the terms of this backend: a head, what is folded into it, and a chain of steps after it.
// In: a graph and a region. Out: Analysis, or the reason why the region is none of ours. No library calls.
// Not here: formats and tensors (lower.h).
#pragma once

#include <expected>
#include <optional>

#include "backend/backend.h"
#include "backends/common/window/window.h"
#include "steps.h"

namespace collage::onednn {

enum class Head : std::uint8_t {
  kElementwise,  ///< no head of its own: the chain starts at an input of the region
  kConvolution,
  kSeries,  ///< convolutions one after another, which `makers` lists
  kDeconvolution,
  kMatMul,  ///< MatMul and Gemm
  kPooling,
  kConcat,
  kResampling,
  kSoftmax,
  kLayerNorm,
  kBatchNorm,
  kReduction,
  kLrn
};

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

struct Analysis {
  Head head = Head::kElementwise;
  const Node* node = nullptr;  ///< the head's node; null for kElementwise
  ValueId source;              ///< the head's first computed input
  ValueId head_result;         ///< where the chain starts
  Chain chain;
  ConvolutionFacts convolution;
  MatMulFacts matmul;
  PoolingFacts pooling;
  std::vector<std::int64_t> axes;             ///< of a reduction; the one axis of concat and softmax
  std::string algorithm;                      ///< "nearest"/"linear"/"products", "log", the reduction's name
  std::vector<std::vector<float>> positions;  ///< "products": where each output pixel lies in the input, by axis
  /// A depthwise convolution between `before` and `chain`, for regions with two convolutions.
  std::optional<ConvolutionFacts> second;
  Chain before;
  /// The convolutions before a Concat whose results are its parts, or are read by others of them; or all convolutions
  /// of a series. In order.
  std::vector<Analysis> makers;
};

[[nodiscard]] std::expected<Analysis, Refusal> analyse(const Graph& graph, const Region& region);

}  // namespace collage::onednn
