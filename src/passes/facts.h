// Queries about nodes, shapes and constants that many passes share. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace collage {

using Integers = std::vector<std::int64_t>;

/// Extents of a value whose type is static; nothing otherwise.
[[nodiscard]] std::optional<Extents> static_extents(const Graph& graph, ValueId id);
/// Number of dimensions; nothing when it is not known.
[[nodiscard]] std::optional<std::size_t> rank_of(const Graph& graph, ValueId id);
/// Whether two values have the same element type and extents in every run: static and equal, or equal symbols.
[[nodiscard]] bool same_type(const Graph& graph, ValueId a, ValueId b);
[[nodiscard]] ElementType element_of(const Graph& graph, ValueId id);
/// Bytes of a static value; 0 when the size is not known.
[[nodiscard]] std::size_t bytes_of(const Graph& graph, ValueId id);

/// The integers of a constant; nothing for computed values and other types.
[[nodiscard]] std::optional<Integers> integers_of(const Graph& graph, ValueId id);
/// The elements of a 32-bit float constant, widened; nothing for other values.
[[nodiscard]] std::optional<std::vector<double>> floats_of(const Graph& graph, ValueId id);
/// The number in a float constant of one element, or whose elements are all the same; nothing otherwise.
[[nodiscard]] std::optional<double> scalar_of(const Graph& graph, ValueId id);
/// True for a constant that is `expected` up to single precision everywhere.
[[nodiscard]] bool is_scalar(const Graph& graph, ValueId id, double expected);

[[nodiscard]] Tensor integer_tensor(const Integers& values);
[[nodiscard]] Tensor float_tensor(const Extents& extents, const std::vector<double>& values);
/// A tensor of the same bytes under other extents of the same count.
[[nodiscard]] Tensor with_extents(const Tensor& tensor, Extents extents);

void set_attribute(Node& node, const std::string& name, AttributeValue value);
void remove_attribute(Node& node, const std::string& name);

/// An axis counted from the front; nothing when it is out of range.
[[nodiscard]] std::optional<std::size_t> normal_axis(std::int64_t axis, std::size_t rank);

/// output dimension i is input dimension perm[i].
using Permutation = std::vector<std::int64_t>;
[[nodiscard]] Permutation inverse(const Permutation& perm);
/// The one transposition that does first `first`, then `second`.
[[nodiscard]] Permutation composed(const Permutation& first, const Permutation& second);
[[nodiscard]] bool is_identity(const Permutation& perm);
/// True when the transposition of these extents leaves the bytes as they are: only unit dimensions move.
[[nodiscard]] bool keeps_bytes(const Extents& extents, const Permutation& perm);
/// The permutation of a Transpose node; nothing when the rank is not known.
[[nodiscard]] std::optional<Permutation> permutation_of(const Graph& graph, const Node& node);
template <class T>
[[nodiscard]] std::vector<T> permuted(const std::vector<T>& items, const Permutation& perm) {
  std::vector<T> result;
  result.reserve(perm.size());
  for (const std::int64_t from : perm) result.push_back(items[static_cast<std::size_t>(from)]);
  return result;
}
[[nodiscard]] ValueType permuted(const ValueType& type, const Permutation& perm);
/// The transposed contents of a constant of whole-byte elements, permuted.size() == rank.
[[nodiscard]] Tensor permuted(const Tensor& tensor, const Permutation& perm);

/// Whether it is a Reshape, Flatten, Squeeze or Unsqueeze: the bytes stay, the extents change.
[[nodiscard]] bool is_reshape_like(const Node& node);
/// Whether the operator's result differs from call to call.
[[nodiscard]] bool is_random(const Node& node);
/// Whether something in the graph rounds to integers, so that a difference in the last bit may change a result by one.
[[nodiscard]] bool rounds(const Graph& graph);

}  // namespace collage
