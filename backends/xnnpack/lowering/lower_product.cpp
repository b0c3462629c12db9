// Products of matrices, and the addends that become their bias.
#include <algorithm>

#include "lowering/rules_of_operators.h"

namespace collage::xnnpack {
namespace {

/// A constant of one number for each of `channels` along the last axis, or one for all, as a vector.
std::optional<int> vector_of(Composer& composer, ValueId id, std::int64_t channels, float scale) {
  if (constant_of(composer.graph(), id) == nullptr) return std::nullopt;
  const Extents own = composer.extents(id);
  const std::int64_t count = element_count(own);
  if (count == 1) return composer.constant(id, {channels}, {channels}, {0}, scale);
  if (count != channels || own.back() != channels) return std::nullopt;
  return composer.constant(id, {channels}, {channels}, {1}, scale);
}

/// The library multiplies with the last two axes of b swapped: a Transpose that does so is taken out.
bool take_transpose(Composer& composer, ValueId b, int& tensor) {
  const Op* transpose = composer.sole_maker(b);
  if (transpose == nullptr || transpose->kind != OpKind::kTranspose) return false;
  const std::size_t rank = transpose->axes.size();
  for (std::size_t axis = 0; axis + 2 < rank; ++axis)
    if (transpose->axes[axis] != static_cast<std::int64_t>(axis)) return false;
  if (rank < 2 || transpose->axes[rank - 1] != static_cast<std::int64_t>(rank) - 2) return false;
  tensor = transpose->inputs[0];
  composer.remove(transpose);
  return true;
}

Done need_matrices(const Composer& composer, ValueId id) {
  if (composer.is_turned(composer.rank(id))) return refuse(RefusalReason::kFormat, "a product of plain tensors only");
  return {};
}

bool is_constant_matrix(const Composer& composer, ValueId id) {
  return constant_of(composer.graph(), id) != nullptr && composer.rank(id) == 2;
}

}  // namespace

Done lower_matmul(Composer& composer, const Node& node) {
  const ValueId a = node.inputs[0];
  const ValueId b = node.inputs[1];
  for (const ValueId id : {a, b, node.outputs[0]})
    if (auto ok = need_matrices(composer, id); !ok) return ok;
  if (is_constant_matrix(composer, b) && constant_of(composer.graph(), a) == nullptr) {
    const Extents weights = composer.extents(b);
    Op op{.kind = OpKind::kFullyConnected,
          .inputs = {composer.read(a), composer.constant(b, weights, {}, {})},
          .transposed = true};
    op.output = composer.write(node.outputs[0]);
    composer.add(std::move(op));
    return {};
  }
  if (composer.rank(a) < 2 || composer.rank(b) < 2) return refuse(RefusalReason::kShape, "a product of a vector");
  Op op{.kind = OpKind::kBatchMatMul, .inputs = {composer.read(a), composer.read(b)}};
  op.transposed = take_transpose(composer, b, op.inputs[1]);
  op.output = composer.write(node.outputs[0]);
  composer.add(std::move(op));
  return {};
}

Done lower_gemm(Composer& composer, const Node& node) {
  const ValueId b = node.inputs[1];
  if (attribute_or<std::int64_t>(node, "transA", 0) != 0) return refuse(RefusalReason::kAttribute, "transA");
  const auto alpha = attribute_or<float>(node, "alpha", 1.F);
  const auto beta = attribute_or<float>(node, "beta", 1.F);
  const bool transposed = attribute_or<std::int64_t>(node, "transB", 0) != 0;
  if (!is_constant_matrix(composer, b) || constant_of(composer.graph(), node.inputs[0]) != nullptr)
    return refuse(RefusalReason::kStructure, "Gemm with computed weights");
  const std::int64_t channels = composer.extents(node.outputs[0])[1];
  Op op{.kind = OpKind::kFullyConnected,
        .inputs = {composer.read(node.inputs[0]), composer.constant(b, composer.extents(b), {}, {}, alpha)},
        .transposed = !transposed};
  const ValueId addend = input_of(node, 2);
  if (!addend.valid() || beta == 0.F) {
    op.output = composer.write(node.outputs[0]);
    composer.add(std::move(op));
    return {};
  }
  if (const auto bias = vector_of(composer, addend, channels, beta)) {
    op.inputs.push_back(*bias);
    op.output = composer.write(node.outputs[0]);
    composer.add(std::move(op));
    return {};
  }
  const auto operand = composer.read_broadcast(addend, 2);
  if (beta != 1.F || !operand) return refuse(RefusalReason::kAttribute, "a computed addend with a factor");
  op.output = composer.temporary(composer.extents(node.outputs[0]));
  Op sum{.kind = OpKind::kBinary, .algorithm = "add", .inputs = {op.output, *operand}};
  composer.add(std::move(op));
  sum.output = composer.write(node.outputs[0]);
  composer.add(std::move(sum));
  return {};
}

bool add_as_bias(Composer& composer, const Node& node) {
  for (std::size_t side = 0; side < 2; ++side) {
    const ValueId product = node.inputs[side];
    const ValueId addend = node.inputs[1 - side];
    if (constant_of(composer.graph(), addend) == nullptr ||
        composer.extents(product) != composer.extents(node.outputs[0]))
      continue;
    Op* maker = composer.sole_maker(product);
    const bool takes_bias = maker != nullptr && maker->kind == OpKind::kFullyConnected && maker->inputs.size() == 2;
    if (!takes_bias || maker->least > -std::numeric_limits<float>::infinity() ||
        maker->most < std::numeric_limits<float>::infinity())
      continue;
    const auto bias = vector_of(composer, addend, composer.extents(product).back(), 1.F);
    if (!bias) continue;
    maker->inputs.push_back(*bias);
    maker->output = composer.write(node.outputs[0]);
    return true;
  }
  return false;
}

}  // namespace collage::xnnpack
