// An attention as the graph interface of oneDNN 3 joins it: softmax(q k * scale + mask) v, heads put side by side.
// In:  a region with two MatMul, and the scale, the Add of a mask, the Softmax and the Transposes around them. Out: a
//       value that says what it computes; its artifact as JSON.
// Cost: examines a few nodes. No library calls.
#pragma once

#include <array>
#include <expected>
#include <string>
#include <string_view>

#include "base/error.h"
#include "ir/graph.h"
#include "region/refusal.h"
#include "region/region.h"

namespace collage::onednn {

/// A tensor as the attention sees it: four axes over the bytes of a port or a constant.
struct Seen {
  std::uint32_t index = 0;  ///< input port; of a constant mask: 0, the only constant
  bool is_constant = false;
  Extents extents = {}, strides = {};  ///< strides in elements
  bool operator==(const Seen&) const = default;
};

struct Attention {
  Seen q, k, v;  ///< [batch, heads, rows, depth], [batch, heads, depth, columns], [batch, heads, columns, width]
  Seen mask;     ///< broadcast to [batch, heads, rows, columns]
  float scale = 1.F;
  int threads = 1;
  bool operator==(const Attention&) const = default;

  /// [batch, rows, heads, width], row-major.
  [[nodiscard]] Extents result() const { return {q.extents[0], q.extents[2], q.extents[1], v.extents[3]}; }
};

struct ReadAttention {
  Attention attention;
  std::vector<ValueId> constants;
};

[[nodiscard]] std::expected<ReadAttention, Refusal> read_attention(const Graph& graph, const Region& region);

[[nodiscard]] std::string to_json(const Attention& attention);
/// Whether an artifact is one of an attention.
[[nodiscard]] bool is_attention(std::string_view artifact);
/// Error backend/bad-artifact: also where the extents do not go together.
[[nodiscard]] Result<Attention> parse_attention(std::string_view artifact);

}  // namespace collage::onednn
