// Operators that compute each element on its own, with one operand or several.
#include <algorithm>
#include <array>
#include <cmath>

#include "lowering/rules_of_operators.h"

namespace collage::xnnpack {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Adds an operation that computes a new tensor of the same extents as `like`.
int add_inner(Composer& composer, Op op, const Extents& extents) {
  op.output = composer.temporary(extents);
  const int output = op.output;
  composer.add(std::move(op));
  return output;
}

Done add_last(Composer& composer, Op op, const Node& node) {
  op.output = composer.write(node.outputs[0]);
  composer.add(std::move(op));
  return {};
}

bool takes_limits(const Op& op) {
  constexpr std::array kKinds = {OpKind::kConvolution,    OpKind::kDepthwiseConvolution, OpKind::kDeconvolution,
                                 OpKind::kFullyConnected, OpKind::kMaxPooling,           OpKind::kAveragePooling};
  return std::ranges::find(kKinds, op.kind) != kKinds.end() || (op.kind == OpKind::kUnary && op.algorithm == "clamp");
}

/// Limits the result of the operation before, or adds one that does.
Done limit(Composer& composer, const Node& node, float least, float most) {
  if (Op* maker = composer.sole_maker(node.inputs[0]); maker != nullptr && takes_limits(*maker)) {
    maker->least = std::clamp(maker->least, least, most);
    maker->most = std::clamp(maker->most, least, most);
    maker->output = composer.write(node.outputs[0]);
    return {};
  }
  return add_last(composer,
                  {.kind = OpKind::kUnary,
                   .algorithm = "clamp",
                   .inputs = {composer.read(node.inputs[0])},
                   .least = least,
                   .most = most},
                  node);
}

const std::map<std::string, std::string, std::less<>>& plain_unaries() {
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"Abs", "abs"},          {"Ceil", "ceiling"},        {"Exp", "exp"},    {"Floor", "floor"},
      {"Log", "log"},          {"HardSwish", "hardswish"}, {"Neg", "negate"}, {"Round", "bankers_rounding"},
      {"Sqrt", "square_root"}, {"Sigmoid", "sigmoid"},     {"Tanh", "tanh"}};
  return kNames;
}

const std::map<std::string, std::string, std::less<>>& binaries() {
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"Add", "add"},    {"Sum", "add"},     {"Sub", "subtract"}, {"Mul", "multiply"},
      {"Div", "divide"}, {"Max", "maximum"}, {"Min", "minimum"},  {"PRelu", "prelu"}};
  return kNames;
}

/// Pow by a number that has an operation of its own.
Done lower_pow(Composer& composer, const Node& node) {
  const auto exponent = number_of(composer.graph(), node.inputs[1]);
  if (!exponent || (*exponent != 2.F && *exponent != 0.5F) ||
      composer.extents(node.inputs[0]) != composer.extents(node.outputs[0]))
    return refuse(RefusalReason::kAttribute, "Pow by other than 2 and 0.5");
  return add_last(composer,
                  {.kind = OpKind::kUnary,
                   .algorithm = *exponent == 2.F ? "square" : "square_root",
                   .inputs = {composer.read(node.inputs[0])}},
                  node);
}

}  // namespace

std::optional<float> number_of(const Graph& graph, ValueId id) {
  const Tensor* tensor = constant_of(graph, id);
  if (tensor == nullptr || tensor->size() != 1 || tensor->type != ElementType::kFloat32) return std::nullopt;
  return tensor->data.as<float>()[0];
}

Done lower_clip(Composer& composer, const Node& node) {
  if (node.op_type == "Relu") return limit(composer, node, 0.F, kInfinity);
  std::array bounds = {-kInfinity, kInfinity};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!input_of(node, i + 1).valid()) continue;
    const auto number = number_of(composer.graph(), node.inputs[i + 1]);
    if (!number) return refuse(RefusalReason::kAttribute, "Clip with computed bounds");
    bounds[i] = *number;
  }
  if (!(bounds[0] < bounds[1])) return refuse(RefusalReason::kAttribute, "Clip to one number or to none");
  return limit(composer, node, bounds[0], bounds[1]);
}

Done lower_unary(Composer& composer, const Node& node) {
  Op op{.kind = OpKind::kUnary, .inputs = {composer.read(node.inputs[0])}};
  if (node.op_type == "Pow") return lower_pow(composer, node);
  if (const auto found = plain_unaries().find(node.op_type); found != plain_unaries().end()) {
    op.algorithm = found->second;
  } else if (node.op_type == "LeakyRelu") {
    op.algorithm = "leaky_relu";
    op.alpha = attribute_or<float>(node, "alpha", 0.01F);
  } else if (node.op_type == "Elu") {
    op.algorithm = "elu";
    op.alpha = attribute_or<float>(node, "alpha", 1.F);
  } else if (node.op_type == "Gelu" && attribute_or<std::string>(node, "approximate", "none") == "none") {
    op.algorithm = "gelu";
  } else if (node.op_type == "Reciprocal") {
    op.kind = OpKind::kBinary;
    op.algorithm = "divide";
    op.inputs = {composer.literal(1.F), op.inputs[0]};
  } else {
    return refuse(RefusalReason::kAttribute, node.op_type);
  }
  return add_last(composer, std::move(op), node);
}

Done lower_hard_sigmoid(Composer& composer, const Node& node) {
  const ValueId x = node.inputs[0];
  const auto alpha = attribute_or<float>(node, "alpha", 0.2F);
  const auto beta = attribute_or<float>(node, "beta", 0.5F);
  const std::size_t reader = composer.sole_reader(node.outputs[0]);
  if (reader < composer.graph().nodes.size() && std::abs(alpha - 1.F / 6.F) < 1e-6F && beta == 0.5F) {
    // x * HardSigmoid(x) of this slope is the library's hardswish.
    const Node& product = composer.graph().nodes[reader];
    if (is_op(product, "Mul") && std::ranges::find(product.inputs, x) != product.inputs.end()) {
      composer.skip(reader);
      return add_last(composer, {.kind = OpKind::kUnary, .algorithm = "hardswish", .inputs = {composer.read(x)}},
                      product);
    }
  }
  const Extents extents = composer.library_extents(composer.extents(x));
  const int source = composer.read(x);
  const int slope = composer.literal(alpha);
  const int scaled =
      add_inner(composer, {.kind = OpKind::kBinary, .algorithm = "multiply", .inputs = {source, slope}}, extents);
  const int height = composer.literal(beta);
  const int moved =
      add_inner(composer, {.kind = OpKind::kBinary, .algorithm = "add", .inputs = {scaled, height}}, extents);
  return add_last(composer,
                  {.kind = OpKind::kUnary, .algorithm = "clamp", .inputs = {moved}, .least = 0.F, .most = 1.F}, node);
}

Done lower_binary(Composer& composer, const Node& node) {
  if (is_op(node, "Add") && add_as_bias(composer, node)) return {};
  const std::size_t rank = composer.rank(node.outputs[0]);
  const std::string& algorithm = binaries().find(node.op_type)->second;
  std::vector<int> operands;
  for (const ValueId id : node.inputs) {
    const auto operand = composer.read_broadcast(id, rank);
    if (!operand) return refuse(RefusalReason::kFormat, "an operand of lower rank in another order");
    operands.push_back(*operand);
  }
  if (operands.size() < 2) return refuse(RefusalReason::kStructure, node.op_type + " of one value");
  int running = operands[0];
  Extents extents = composer.tensor(running).extents;
  for (std::size_t i = 1; i + 1 < operands.size(); ++i) {
    const Extents other = composer.tensor(operands[i]).extents;
    if (other != extents) return refuse(RefusalReason::kShape, "more than two operands that are broadcast");
    running = add_inner(composer, {.kind = OpKind::kBinary, .algorithm = algorithm, .inputs = {running, operands[i]}},
                        extents);
  }
  return add_last(composer, {.kind = OpKind::kBinary, .algorithm = algorithm, .inputs = {running, operands.back()}},
                  node);
}

}  // namespace collage::xnnpack
