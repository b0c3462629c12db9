// Recognises scaled dot-product attention: two products with a softmax between them and with reshapes and transposes
// anywhere, or ONNX's operator Attention.
// In:  a region.
// Out: its operands as strided tensors, its nodes, and the values between its stages.
// How: Transpose and Reshape of operands and result become strides; scales of operands become one factor.
// Cost: linear in the region.
// Source: scaled dot-product attention (Vaswani et al., NIPS 2017); reshapes without a copy as in NumPy.
#pragma once

#include <optional>

#include "compiler/analysis/site.h"

namespace collage::native {

/// A value of the graph, seen with other axes: none is copied.
struct Strided {
  ValueId source;
  Extents extents;
  Extents strides;  ///< elements
};

/// 1s in front, to `rank` axes; stride 0 where there is one place.
[[nodiscard]] Strided aligned_to(const Strided& from, std::size_t rank);

struct AttentionForm {
  Strided queries;  ///< [batch..., rows, depth]
  Strided keys;     ///< [batch..., columns, depth]; batch axes may be 1
  Strided values;   ///< [batch..., columns, width]; batch axes may be 1
  Extents batch;
  std::int64_t rows = 1, columns = 1, depth = 1, width = 1;
  std::int64_t share = 1;                ///< neighbours along the last batch axis that have one key and value
  float factor = 1.F;                    ///< times the first product
  ValueId result;                        ///< what the region's other nodes see
  Extents result_strides;                ///< of the result along [batch..., rows, width]
  bool is_moved = false;                 ///< the result has other axes than the second product
  NodeSet nodes;                         ///< of the region, when it is written as several
  ValueId product = {};                  ///< the first product, before the factor
  ValueId logits = {};                   ///< made of it by element-wise nodes: what the softmax takes
  ValueId softmax = {};                  ///< what the softmax gives
  ValueId weights = {};                  ///< made of that by element-wise nodes: the second product's first factor
  [[nodiscard]] Extents scores() const;  ///< [batch..., rows, columns]
};

/// The attention that the region contains, whatever else is in it.
[[nodiscard]] std::optional<AttentionForm> written_attention(const Graph& graph, const Region& region);

/// The one of the site's anchor, an Attention.
[[nodiscard]] std::expected<AttentionForm, Refusal> attention_of(const Site& site);

/// Strides under which a strided tensor has other extents of as many elements; nothing when it would have to be copied.
[[nodiscard]] std::optional<Extents> regrouped(const Extents& from, const Extents& strides, const Extents& to);

}  // namespace collage::native
