// Quantised operators: those of ONNX between DequantizeLinear and QuantizeLinear, and QLinear ones.
#include <algorithm>
#include <array>
#include <cmath>

#include "lowering/rules_of_operators.h"

namespace collage::xnnpack {
namespace {

/// What follows an operator up to its quantiser.
struct Tail {
  Bytes result;
  float least = -std::numeric_limits<float>::infinity();
  float most = std::numeric_limits<float>::infinity();
  std::vector<std::size_t> nodes = {};
};

/// Limits of a Relu or a Clip with constant bounds; false for other operators.
bool add_limits(const Graph& graph, const Node& node, Tail& tail) {
  if (is_op(node, "Relu")) {
    tail.least = std::max(tail.least, 0.F);
    tail.most = std::max(tail.most, 0.F);
    return true;
  }
  if (!is_op(node, "Clip")) return false;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) continue;
    const auto number = number_of(graph, node.inputs[i]);
    if (!number) return false;
    if (i == 1)
      tail.least = std::max(tail.least, *number);
    else
      tail.most = std::min(tail.most, *number);
  }
  return tail.least < tail.most;
}

std::optional<Tail> tail_of(const Composer& composer, ValueId value) {
  Tail tail;
  const Graph& graph = composer.graph();
  for (;;) {
    const std::size_t reader = composer.sole_reader(value);
    if (reader >= graph.nodes.size()) return std::nullopt;
    const Node& node = graph.nodes[reader];
    tail.nodes.push_back(reader);
    if (is_op(node, "QuantizeLinear") && node.inputs[0] == value) {
      const auto result = quantised(graph, node);
      if (!result) return std::nullopt;
      tail.result = *result;
      return tail;
    }
    if (!add_limits(graph, node, tail)) return std::nullopt;
    value = node.outputs[0];
  }
}

void finish(Composer& composer, const Tail& tail) {
  composer.limit_last(tail.least, tail.most);
  for (const std::size_t node : tail.nodes) composer.skip(node);
}

bool is_product(const Node& node) { return is_op(node, "Conv") || is_op(node, "MatMul") || is_op(node, "Gemm"); }

/// Operators that the library computes in bytes as it does in real numbers; the operands of real numbers come first.
std::size_t operands_in_bytes(const Node& node) {
  constexpr std::array kOfTwo = {"Add", "Mul", "Sub"};
  constexpr std::array kOfOne = {"Abs",     "Elu",  "Gelu",    "HardSwish",         "LeakyRelu", "Neg",
                                 "Sigmoid", "Tanh", "MaxPool", "GlobalAveragePool", "ReduceMean"};
  if (!node.domain.empty()) return 0;
  if (std::ranges::find(kOfTwo, node.op_type) != kOfTwo.end()) return 2;
  return std::ranges::find(kOfOne, node.op_type) != kOfOne.end() ? 1 : 0;
}

/// The bias of a product: constants, or integers behind a DequantizeLinear of the region.
std::expected<std::vector<double>, Refusal> real_bias(const Composer& composer, ValueId id) {
  const Graph& graph = composer.graph();
  if (constant_of(graph, id) != nullptr) return bias_of(graph, id);
  for (const std::size_t n : composer.region().nodes.members()) {
    const Node& node = graph.nodes[n];
    if (!is_op(node, "DequantizeLinear") || node.outputs[0] != id) continue;
    const Tensor* scale = constant_of(graph, node.inputs[1]);
    const auto scales = scale != nullptr ? floats_of(*scale) : std::nullopt;
    const Tensor* zero = constant_of(graph, input_of(node, 2));
    const auto zeros = zero != nullptr ? integers_of(*zero) : std::nullopt;
    const bool is_plain = !input_of(node, 2).valid() || (zeros && std::ranges::count(*zeros, 0) == std::ssize(*zeros));
    if (!scales || !is_plain) return refuse(RefusalReason::kStructure, "a bias with a zero point");
    return bias_of(graph, node.inputs[0], *scales);
  }
  return refuse(RefusalReason::kStructure, "a computed bias");
}

std::optional<Done> product_in_bytes(Composer& composer, const Node& node) {
  const Bytes* source = composer.bytes_behind(node.inputs[0]);
  const Bytes* weights = composer.bytes_behind(node.inputs[1]);
  const auto tail = tail_of(composer, node.outputs[0]);
  if (source == nullptr || weights == nullptr || !tail) return std::nullopt;
  ByteProduct product{.source = *source, .weights = *weights, .bias = {}, .result = tail->result};
  if (const ValueId bias = input_of(node, 2); bias.valid()) {
    auto numbers = real_bias(composer, bias);
    if (!numbers) return std::unexpected(numbers.error());
    product.bias = *std::move(numbers);
  }
  const Done done = is_op(node, "Conv") ? lower_byte_convolution(composer, node, product)
                                        : lower_byte_matmul(composer, node, product);
  if (done) finish(composer, *tail);
  return done;
}

/// The bias in steps of the sums.
std::expected<std::vector<std::int32_t>, Refusal> steps_of(const std::vector<double>& bias,
                                                           const std::vector<float>& scales) {
  std::vector<std::int32_t> steps;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const double step = std::nearbyint(bias[i] / static_cast<double>(scales[i % scales.size()]));
    if (!(std::abs(step) < 0x1p31)) return refuse(RefusalReason::kAttribute, "a bias beyond 32 bits");
    steps.push_back(static_cast<std::int32_t>(step));
  }
  return steps;
}

/// Bytes that are operands and a result of an operator of com.microsoft, from its list of (bytes, scale, zero).
std::expected<Bytes, Refusal> operand(const Composer& composer, const Node& node, std::size_t at) {
  return bytes_of(composer.graph(), node.inputs[at], input_of(node, at + 1), input_of(node, at + 2));
}
std::expected<Bytes, Refusal> result(const Composer& composer, const Node& node, std::size_t at) {
  return bytes_of(composer.graph(), node.outputs[0], input_of(node, at), input_of(node, at + 1));
}

Done add_qlinear(Composer& composer, Op op, const Node& node, std::size_t result_at) {
  const auto made = result(composer, node, result_at);
  if (!made) return std::unexpected(made.error());
  op.output = composer.write_bytes(*made);
  composer.add(std::move(op));
  return {};
}

std::expected<ByteProduct, Refusal> qlinear_product(const Composer& composer, const Node& node, std::int64_t axis) {
  const Graph& graph = composer.graph();
  const auto source = operand(composer, node, 0);
  const auto weights = bytes_of(graph, node.inputs[3], node.inputs[4], node.inputs[5], axis);
  const auto made = result(composer, node, 6);
  for (const auto* one : {&source, &weights, &made})
    if (!*one) return std::unexpected(one->error());
  ByteProduct product{.source = *source, .weights = *weights, .bias = {}, .result = *made};
  const ValueId bias = input_of(node, 8);
  if (!bias.valid()) return product;
  std::vector<double> scales;
  for (const float scale : weights->scales)
    scales.push_back(static_cast<double>(scale) * static_cast<double>(source->scales[0]));
  auto numbers = bias_of(graph, bias, scales);
  if (!numbers) return std::unexpected(numbers.error());
  product.bias = *std::move(numbers);
  return product;
}

}  // namespace

Done lower_dequantise(Composer& composer, const Node& node) {
  const ValueId id = node.inputs[0];
  const Tensor* constant = constant_of(composer.graph(), id);
  // A bias is read by its product.
  if (constant != nullptr && constant->type == ElementType::kInt32) return {};
  const auto bytes = dequantised(composer.graph(), node);
  if (!bytes) return std::unexpected(bytes.error());
  const bool is_output =
      std::ranges::find(composer.region().outputs, node.outputs[0]) != composer.region().outputs.end();
  if (constant == nullptr || is_output)
    if (const auto tensor = composer.read_bytes(*bytes, composer.rank(node.outputs[0])); !tensor)
      return std::unexpected(tensor.error());
  composer.note_bytes(node.outputs[0], *bytes);
  if (is_output) (void)composer.read(node.outputs[0]);
  return {};
}

Done need_readable(Composer& composer, const Node& node) {
  for (const ValueId id : node.inputs) {
    if (!id.valid()) continue;
    if (!composer.is_known(id)) return refuse(RefusalReason::kStructure, "dequantised integers of other than 8 bits");
    if (const Bytes* bytes = composer.bytes_behind(id); bytes != nullptr)
      if (const auto tensor = composer.read_bytes(*bytes, composer.rank(id)); !tensor)
        return std::unexpected(tensor.error());
  }
  return {};
}

Done lower_quantise(Composer& composer, const Node& node) {
  const auto result = quantised(composer.graph(), node);
  if (!result) return std::unexpected(result.error());
  if (constant_of(composer.graph(), node.inputs[0]) != nullptr)
    return refuse(RefusalReason::kStructure, "a constant that is quantised");
  if (auto ok = need_readable(composer, node); !ok) return ok;
  Op op{.kind = OpKind::kUnary, .algorithm = "convert", .inputs = {composer.read(node.inputs[0])}};
  op.output = composer.write_bytes(*result);
  composer.add(std::move(op));
  return {};
}

std::optional<Done> lower_in_bytes(Composer& composer, const Node& node, Done (*rule)(Composer&, const Node&)) {
  if (is_product(node)) return product_in_bytes(composer, node);
  const std::size_t operands = operands_in_bytes(node);
  if (operands == 0 || node.inputs.size() < operands) return std::nullopt;
  const auto tail = tail_of(composer, node.outputs[0]);
  if (!tail) return std::nullopt;
  for (std::size_t i = 0; i < operands; ++i) {
    const Bytes* bytes = composer.bytes_behind(node.inputs[i]);
    if (bytes == nullptr || !composer.read_bytes(*bytes, composer.rank(node.outputs[0]))) return std::nullopt;
  }
  composer.begin_bytes(node.outputs[0], tail->result);
  const Done done = rule(composer, node);
  composer.end_bytes();
  if (done) finish(composer, *tail);
  return done;
}

Done add_byte_product(Composer& composer, Op op, const ByteProduct& product, TensorInfo weights, int channels) {
  const auto source = composer.read_bytes(product.source, composer.rank(product.source.id));
  if (!source) return std::unexpected(source.error());
  const TensorInfo encoding = composer.encoded(product.weights);
  const auto axis = static_cast<std::size_t>(channels);
  weights.type = encoding.type;
  weights.scales = encoding.scales;
  weights.zero = encoding.zero;
  const std::int64_t outputs = weights.extents[axis];
  if (composer.byte_form() == ByteForm::kSigned) {
    if (encoding.zero != 0) return refuse(RefusalReason::kAttribute, "signed weights with a zero point");
    if (encoding.scales.size() == 1) weights.scales.assign(static_cast<std::size_t>(outputs), encoding.scales[0]);
    if (std::ssize(weights.scales) != outputs) return refuse(RefusalReason::kShape, "scales of other than each output");
    weights.channel_axis = channels;
  } else if (encoding.scales.size() != 1) {
    return refuse(RefusalReason::kAttribute, "unsigned weights with several scales");
  }
  std::vector<float> steps = weights.scales;
  for (float& step : steps) step *= product.source.scales[0];
  op.inputs = {*source, composer.constant(product.weights.id, std::move(weights), false)};
  if (!product.bias.empty()) {
    std::vector<double> bias = product.bias;
    if (bias.size() == 1) bias.assign(static_cast<std::size_t>(outputs), bias[0]);
    if (std::ssize(bias) != outputs) return refuse(RefusalReason::kShape, "a bias of other than each output");
    auto numbers = steps_of(bias, steps);
    if (!numbers) return std::unexpected(numbers.error());
    op.inputs.push_back(composer.literal(*std::move(numbers), std::move(steps)));
  }
  op.output = composer.write_bytes(product.result);
  composer.add(std::move(op));
  return {};
}

Done lower_qlinear_convolution(Composer& composer, const Node& node) {
  const auto product = qlinear_product(composer, node, 0);
  if (!product) return std::unexpected(product.error());
  return lower_byte_convolution(composer, node, *product);
}

Done lower_qlinear_matmul(Composer& composer, const Node& node) {
  const auto product = qlinear_product(composer, node, std::ssize(composer.extents(node.inputs[3])) - 1);
  if (!product) return std::unexpected(product.error());
  return lower_byte_matmul(composer, node, *product);
}

Done lower_qlinear_binary(Composer& composer, const Node& node) {
  const std::size_t rank = composer.rank(node.outputs[0]);
  Op op{.kind = OpKind::kBinary, .algorithm = node.op_type == "QLinearAdd" ? "add" : "multiply"};
  for (const std::size_t at : {0U, 3U}) {
    const auto bytes = operand(composer, node, at);
    if (!bytes) return std::unexpected(bytes.error());
    const auto tensor = composer.read_bytes(*bytes, rank);
    if (!tensor) return std::unexpected(tensor.error());
    op.inputs.push_back(*tensor);
  }
  return add_qlinear(composer, std::move(op), node, 6);
}

Done lower_qlinear_unary(Composer& composer, const Node& node) {
  const auto bytes = operand(composer, node, 0);
  if (!bytes) return std::unexpected(bytes.error());
  const std::size_t rank = composer.rank(node.inputs[0]);
  const auto tensor = composer.read_bytes(*bytes, rank);
  if (!tensor) return std::unexpected(tensor.error());
  Op op{.kind = OpKind::kUnary, .inputs = {*tensor}};
  if (node.op_type == "QLinearGlobalAveragePool") {
    if (rank < 3 || attribute_or<std::int64_t>(node, "channels_last", 0) != 0)
      return refuse(RefusalReason::kAttribute, "other than images in ONNX's order");
    op.kind = OpKind::kReduction;
    op.algorithm = "mean";
    op.keeps_axes = true;
    for (std::size_t axis = 2; axis < rank; ++axis)
      op.axes.push_back(composer.library_axis(rank, static_cast<std::int64_t>(axis)));
  } else if (node.op_type == "QLinearLeakyRelu") {
    op.algorithm = "leaky_relu";
    op.alpha = attribute_or<float>(node, "alpha", 0.01F);
  } else {
    op.algorithm = "sigmoid";
  }
  return add_qlinear(composer, std::move(op), node, 3);
}

}  // namespace collage::xnnpack
