// What a region is to cuDNN: a convolution, and element-wise operations on its result.
// In:  a graph, a region, the format of its images. Out: a Description, or why the library does not get the region.
// How: images [n, c, w] get an axis of one row, so that there are two or three spatial axes. Weights of channels_last
// are
//       stored [k, rows, columns, c].
// Cost: one pass over the region's nodes.
// Source: ONNX operator specifications; cuDNN's developer guide on graphs of convolution and pointwise operations.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "backends/common/window/window.h"
#include "ir/graph.h"
#include "region/format.h"
#include "region/refusal.h"
#include "region/region.h"

namespace collage::cudnn {

/// Where a tensor's bytes come from.
enum class SourceKind : std::uint8_t { kInput, kConstant, kOutput, kInside };

/// A tensor of the library: extents and strides in its order of axes, [n, c, spatial...].
struct DescribedTensor {
  SourceKind kind = SourceKind::kInside;
  std::uint32_t index = 0;  ///< of the port, or into Description::constants
  Extents extents;
  Extents strides;
  bool is_permuted = false;  ///< a constant [k, c, spatial...] that is stored with c last
  bool operator==(const DescribedTensor&) const = default;
};

/// cudnnPointwiseMode_t
enum class Pointwise : int { kAdd = 0, kRelu = 100, kTanh = 101, kSigmoid = 102 };

/// An operation on the result so far.
struct Behind {
  Pointwise mode = Pointwise::kRelu;
  float slope = 0;                          ///< of kRelu below zero
  std::optional<std::uint32_t> other = {};  ///< of kAdd: a tensor
  std::uint32_t result = 0;                 ///< a tensor
  bool operator==(const Behind&) const = default;
};

struct Description {
  std::vector<DescribedTensor> tensors;
  std::uint32_t x = 0, w = 0, y = 0;  ///< of the convolution
  Extents strides, dilations, before, after;
  std::vector<Behind> behind;
  std::vector<ValueId> constants = {};  ///< of the graph
  bool operator==(const Description&) const = default;
};

[[nodiscard]] std::expected<Description, Refusal> describe(const Graph& graph, const Region& region,
                                                           const Format& format);

[[nodiscard]] inline std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

}  // namespace collage::cudnn
