// Reads what quantised operators say about their operands: bytes that stand for real numbers.
// In:  a graph, a node. Out: Bytes and biases as values, or why they are none that libraries take.
// Cost: linear in the numbers of the constants. Source: ONNX operator specifications.
#pragma once

#include <expected>
#include <vector>

#include "ir/graph.h"
#include "region/refusal.h"

namespace collage {

/// Integers of 8 bits that stand for (integer - zero) * scale.
struct Bytes {
  ValueId id = {};  ///< the integers
  ElementType type = ElementType::kUndefined;
  std::vector<float> scales = {};  ///< one, or one for each index along `axis`
  std::int64_t axis = 0;
  std::int64_t zero = 0;
  [[nodiscard]] bool has_one_scale() const { return scales.size() == 1; }
  bool operator==(const Bytes&) const = default;
};

[[nodiscard]] inline bool is_byte(ElementType type) {
  return type == ElementType::kInt8 || type == ElementType::kUint8;
}

/// `scale` and `zero` are operands: constants, positive and finite scales, one zero point or equal ones; an absent zero
/// is 0.
[[nodiscard]] std::expected<Bytes, Refusal> bytes_of(const Graph& graph, ValueId id, ValueId scale, ValueId zero,
                                                     std::int64_t axis = 0);
/// What a DequantizeLinear of f32 reads.
[[nodiscard]] std::expected<Bytes, Refusal> dequantised(const Graph& graph, const Node& node);
/// What a QuantizeLinear of f32 writes: one scale.
[[nodiscard]] std::expected<Bytes, Refusal> quantised(const Graph& graph, const Node& node);

/// The real numbers of a bias: `id` is a constant of f32, or one of i32 whose steps are `scale` wide: one number, or
/// one for each element.
[[nodiscard]] std::expected<std::vector<double>, Refusal> bias_of(const Graph& graph, ValueId id,
                                                                  const std::vector<double>& scale = {1.0});

}  // namespace collage
