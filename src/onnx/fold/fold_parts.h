// Shared by the operators of fold_operators.h: optional operands, index arithmetic, broadcasting. A fold that cannot
// compute its node returns nothing instead of an error; the node then stays in the graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/fold/fold_operators.h"

namespace collage {

using Ints = std::vector<std::int64_t>;
using SmallValues = std::vector<SmallValue>;
using Folded = std::optional<SmallValues>;

inline Folded one(SmallValue value) {
  SmallValues values;
  values.push_back(std::move(value));
  return values;
}

/// A view of the request that returns nothing instead of reading past the end.
struct Operands {
  const FoldRequest& request;
  [[nodiscard]] const SmallValue* at(std::size_t i) const {
    return i < request.inputs.size() ? request.inputs[i] : nullptr;
  }
  /// True when the node names an i-th input, known or not.
  [[nodiscard]] bool named(int i) const { return i < request.node.input_size() && !request.node.input(i).empty(); }
  [[nodiscard]] const Ints* ints(std::size_t i) const {
    const SmallValue* value = at(i);
    return value && !value->is_float() ? &value->ints : nullptr;
  }
  [[nodiscard]] std::int64_t attribute(std::string_view name, std::int64_t fallback) const {
    return int_attribute(request.node, name, fallback);
  }
};

[[nodiscard]] std::optional<std::int64_t> wrap_axis(std::int64_t axis, std::int64_t rank);
[[nodiscard]] Ints strides_of(const Ints& dims);
/// Where element `index` of a broadcast result comes from in an operand of `dims`.
[[nodiscard]] std::size_t source_of(const Ints& index, const Ints& dims);

/// Steps through every index of `dims` in row-major order; `count` of them.
template <class Visit>
void for_each_index(const Ints& dims, std::size_t count, Visit&& visit) {
  Ints index(dims.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    visit(index);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
}

// fold_arithmetic.cpp: element by element, and reductions.
[[nodiscard]] Folded fold_binary(const Operands& in);
[[nodiscard]] Folded fold_min_max(const Operands& in);
[[nodiscard]] Folded fold_unary(const Operands& in);
[[nodiscard]] Folded fold_cast(const Operands& in);
[[nodiscard]] Folded fold_where(const Operands& in);
[[nodiscard]] Folded fold_range(const Operands& in);
[[nodiscard]] Folded fold_reduce(const Operands& in);

// fold_movement.cpp: elements are moved, repeated or dropped, but keep their values.
[[nodiscard]] Folded fold_shape(const Operands& in);
[[nodiscard]] Folded fold_size(const Operands& in);
[[nodiscard]] Folded fold_gather(const Operands& in);
[[nodiscard]] Folded fold_concat(const Operands& in);
[[nodiscard]] Folded fold_reshape(const Operands& in);
[[nodiscard]] Folded fold_squeeze(const Operands& in);
[[nodiscard]] Folded fold_unsqueeze(const Operands& in);
[[nodiscard]] Folded fold_slice(const Operands& in);
[[nodiscard]] Folded fold_split(const Operands& in);
[[nodiscard]] Folded fold_constant_of_shape(const Operands& in);
[[nodiscard]] Folded fold_expand(const Operands& in);
[[nodiscard]] Folded fold_tile(const Operands& in);
[[nodiscard]] Folded fold_transpose(const Operands& in);
[[nodiscard]] Folded fold_non_zero(const Operands& in);

}  // namespace collage
