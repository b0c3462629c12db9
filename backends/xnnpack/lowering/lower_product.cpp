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

/// The library multiplies a bias by the scales of weights in bytes.
bool scales_bias(const Composer& composer, const Op& op) {
  return composer.tensor(op.inputs[1]).type != ElementType::kFloat32;
}

Done need_matrices(const Composer& composer, ValueId id) {
  if (composer.is_turned(composer.rank(id))) return refuse(RefusalReason::kFormat, "a product of plain tensors only");
  return {};
}

bool is_constant_matrix(const Composer& composer, ValueId id) {
  return constant_of(composer.graph(), id) != nullptr && composer.rank(id) == 2;
}

/// A Gemm that has its weights as [out, in].
bool has_outputs_first(const Node& node) {
  return is_op(node, "Gemm") && attribute_or<std::int64_t>(node, "transB", 0) != 0;
}

/// Weights as the library reads bytes: [out, in].
TensorInfo outputs_first(const Extents& own, bool has_outputs_first) {
  const Extents extents = has_outputs_first ? own : Extents{own[1], own[0]};
  return {
      .extents = extents, .gathered = extents, .steps = has_outputs_first ? Extents{own[1], 1} : Extents{1, own[1]}};
}

/// Weights in bytes that are a constant matrix, with one scale or one for each output.
Done check_byte_weights(const Composer& composer, const Node& node, const Bytes& weights) {
  if (!is_constant_matrix(composer, weights.id)) return refuse(RefusalReason::kStructure, "computed weights");
  const std::int64_t outputs = has_outputs_first(node) ? 0 : 1;
  if (!weights.has_one_scale() && weights.axis != outputs)
    return refuse(RefusalReason::kAttribute, "scales along another axis than the outputs");
  return {};
}

}  // namespace

Done lower_byte_matmul(Composer& composer, const Node& node, const ByteProduct& product) {
  if (auto ok = check_byte_weights(composer, node, product.weights); !ok) return ok;
  for (const ValueId id : {product.source.id, node.outputs[0]})
    if (auto ok = need_matrices(composer, id); !ok) return ok;
  if (composer.rank(product.source.id) < 2) return refuse(RefusalReason::kShape, "a product of a vector");
  if (attribute_or<std::int64_t>(node, "transA", 0) != 0) return refuse(RefusalReason::kAttribute, "transA");
  const bool is_gemm = is_op(node, "Gemm");
  if (is_gemm && attribute_or<float>(node, "alpha", 1.F) != 1.F) return refuse(RefusalReason::kAttribute, "alpha");
  if (is_gemm && !product.bias.empty() && attribute_or<float>(node, "beta", 1.F) != 1.F)
    return refuse(RefusalReason::kAttribute, "beta");
  return add_byte_product(composer, {.kind = OpKind::kFullyConnected}, product,
                          outputs_first(composer.extents(product.weights.id), has_outputs_first(node)), 0);
}

std::optional<int> scaled_weights(Composer& composer, const Node& node, float factor) {
  const Bytes* weights = composer.bytes_behind(node.inputs[1]);
  if (weights == nullptr || composer.byte_form() != ByteForm::kSigned || factor <= 0.F) return std::nullopt;
  if (!check_byte_weights(composer, node, *weights)) return std::nullopt;
  TensorInfo info = outputs_first(composer.extents(weights->id), has_outputs_first(node));
  const TensorInfo encoding = composer.encoded(*weights);
  const auto outputs = static_cast<std::size_t>(info.extents[0]);
  if (encoding.zero != 0) return std::nullopt;
  info.type = encoding.type;
  info.scales = encoding.scales.size() == 1 ? std::vector<float>(outputs, encoding.scales[0]) : encoding.scales;
  for (float& scale : info.scales) scale *= factor;
  info.channel_axis = 0;
  return composer.constant(weights->id, std::move(info), false);
}

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
  if (const auto weights = scaled_weights(composer, node, 1.F);
      weights && constant_of(composer.graph(), a) == nullptr) {
    Op op{.kind = OpKind::kFullyConnected, .inputs = {composer.read(a), *weights}};
    op.output = composer.write(node.outputs[0]);
    composer.add(std::move(op));
    return {};
  }
  if (auto ok = need_readable(composer, node); !ok) return ok;
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
  const auto scaled = scaled_weights(composer, node, alpha);
  if ((!scaled && !is_constant_matrix(composer, b)) || constant_of(composer.graph(), node.inputs[0]) != nullptr)
    return refuse(RefusalReason::kStructure, "Gemm with computed weights");
  const std::int64_t channels = composer.extents(node.outputs[0])[1];
  Op op{.kind = OpKind::kFullyConnected,
        .inputs = {composer.read(node.inputs[0]),
                   scaled ? *scaled : composer.constant(b, composer.extents(b), {}, {}, alpha)},
        .transposed = !scaled && !transposed};
  const ValueId addend = input_of(node, 2);
  if (!addend.valid() || beta == 0.F) {
    op.output = composer.write(node.outputs[0]);
    composer.add(std::move(op));
    return {};
  }
  const auto bias = scales_bias(composer, op) ? std::nullopt : vector_of(composer, addend, channels, beta);
  if (bias) {
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
    const bool takes_bias = maker != nullptr && maker->kind == OpKind::kFullyConnected && maker->inputs.size() == 2 &&
                            !scales_bias(composer, *maker);
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
