#include "onnx/legacy_rules.h"

#include <algorithm>

#include "onnx/parse.h"

namespace collage {
namespace {

pb::NodeProto& add_node_like(Rewrite& rewrite, const pb::NodeProto& origin, const char* op,
                             std::vector<std::string> inputs, const std::string& output, std::string_view domain) {
  pb::NodeProto& node = rewrite.nodes.emplace_back();
  const bool makes_origins_output = origin.output_size() > 0 && origin.output(0) == output;
  if (!origin.name().empty() && makes_origins_output) node.set_name(origin.name());
  node.set_op_type(op);
  if (!domain.empty()) node.set_domain(std::string(domain));
  for (std::string& input : inputs) node.add_input(std::move(input));
  node.add_output(output);
  return node;
}

using TypeMap = std::map<std::string, const pb::TypeProto*>;

/// Applies `rule` to every node of a graph, bodies first, so that a rewritten node takes its finished bodies along.
Result<void> rewrite_graph(pb::GraphProto& graph, Names& names, std::int64_t opset, TypeMap types,
                           const LegacyRule& rule) {
  for (const auto& value : graph.value_info()) types[value.name()] = &value.type();
  for (const auto& value : graph.input()) types[value.name()] = &value.type();
  for (const auto& value : graph.output())
    if (value.type().tensor_type().has_shape()) types[value.name()] = &value.type();
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) COLLAGE_TRY_VOID(rewrite_graph(*attribute.mutable_g(), names, opset, types, rule));
      for (auto& body : *attribute.mutable_graphs()) COLLAGE_TRY_VOID(rewrite_graph(body, names, opset, types, rule));
    }
  }
  Rewrite rewrite{.graph = graph, .names = names, .opset = opset, .types = std::move(types), .nodes = {}};
  for (auto& node : *graph.mutable_node()) {
    COLLAGE_TRY(const bool replaced, rule(node, rewrite));
    if (!replaced) rewrite.nodes.emplace_back().Swap(&node);
  }
  graph.clear_node();
  for (auto& node : rewrite.nodes) graph.add_node()->Swap(&node);
  return {};
}

Result<bool> experiment_rule(const pb::NodeProto& node, Rewrite& rewrite) {
  if (!is_standard(node)) return false;
  if (node.op_type() == "Affine") return rewrite_affine(node, rewrite);
  if (node.op_type() == "Crop") return rewrite_crop(node, rewrite);
  if (node.op_type() == "ImageScaler") return rewrite_image_scaler(node, rewrite);
  constexpr std::int64_t kFirstLayerNormalization = 17;
  if (node.op_type() == "LayerNormalization" && rewrite.opset < kFirstLayerNormalization) {
    pb::NodeProto& later = rewrite.nodes.emplace_back(node);
    later.set_domain(std::string(kFinalDomain));
    return true;
  }
  return false;
}

/// Before opset 9 BatchNormalization could normalise each activation by itself; no later version can.
Result<bool> refuse_activation_norm(const pb::NodeProto& node) {
  if (int_attribute(node, "spatial", 1) != 0) return false;
  return fail(ExitCode::kUnsupported, "import/unsupported-legacy", describe(node), "spatial=0", "spatial=1");
}

bool is_narrow_integer(int type) {
  using Type = pb::TensorProto;
  return type == Type::INT8 || type == Type::UINT8 || type == Type::INT16 || type == Type::UINT16;
}

void add_cast(Rewrite& rewrite, const pb::NodeProto& node, const std::string& from, const std::string& to, int type) {
  set_int(rewrite.add_final(node, "Cast", {from}, to), "to", type);
}

/// MatMul of 8 and 16-bit integers is no valid ONNX, yet some exporters write it: 32 bits in between, as they meant.
Result<bool> widen_mat_mul(const pb::NodeProto& node, Rewrite& rewrite) {
  if (node.input_size() != 2 || node.output_size() != 1) return false;
  const int type = rewrite.element_type(node.input(0));
  if (!is_narrow_integer(type) || rewrite.element_type(node.input(1)) != type) return false;
  const std::string a = rewrite.names.fresh(node.input(0) + "_wide");
  const std::string b = rewrite.names.fresh(node.input(1) + "_wide");
  const std::string product = rewrite.names.fresh(node.output(0) + "_wide");
  add_cast(rewrite, node, node.input(0), a, pb::TensorProto::INT32);
  add_cast(rewrite, node, node.input(1), b, pb::TensorProto::INT32);
  rewrite.add_final(node, "MatMul", {a, b}, product);
  add_cast(rewrite, node, product, node.output(0), type);
  return true;
}

/// Swish has no kernel in ONNX Runtime, which spells it out itself only in models of opset 24.
Result<bool> spell_out_swish(const pb::NodeProto& node, Rewrite& rewrite) {
  if (node.input_size() != 1 || node.output_size() != 1) return false;
  const std::string& x = node.input(0);
  const std::string& y = node.output(0);
  const float alpha = float_attribute(node, "alpha", 1.0F);
  std::string scaled = x;
  if (alpha != 1.0F) {
    const std::string factor = rewrite.constant(float_tensor(rewrite.names.fresh(y + "_alpha"), {}, {alpha}));
    const std::string cast = rewrite.names.fresh(y + "_alpha_cast");
    scaled = rewrite.names.fresh(y + "_scaled");
    rewrite.add_final(node, "CastLike", {factor, x}, cast);
    rewrite.add_final(node, "Mul", {x, cast}, scaled);
  }
  const std::string gate = rewrite.names.fresh(y + "_gate");
  rewrite.add_final(node, "Sigmoid", {scaled}, gate);
  rewrite.add_final(node, "Mul", {x, gate}, y);
  return true;
}

/// Scan had a batch dimension in opset 8 only, which the converter drops without a word to the body.
Result<bool> refuse_batched_scan(const pb::NodeProto& node) {
  return fail(ExitCode::kUnsupported, "import/unsupported-legacy", describe(node), "Scan of opset 8",
              "opset 9 or newer");
}

/// ONNX's shape inference takes an STFT without `onesided` for a two-sided one; its default is one-sided.
bool spell_out_one_side(const pb::NodeProto& node, Rewrite& rewrite) {
  for (const pb::AttributeProto& attribute : node.attribute())
    if (attribute.name() == "onesided") return false;
  pb::NodeProto& made = rewrite.add_final(node, "STFT", {node.input().begin(), node.input().end()}, node.output(0));
  *made.mutable_attribute() = node.attribute();
  pb::AttributeProto& side = *made.add_attribute();
  side.set_name("onesided");
  side.set_type(pb::AttributeProto::INT);
  side.set_i(1);
  return true;
}

Result<bool> legacy_rule(const pb::NodeProto& node, Rewrite& rewrite) {
  if (!is_standard(node)) return false;
  const std::string& op = node.op_type();
  const std::int64_t opset = rewrite.opset;
  if (op == "Swish") return spell_out_swish(node, rewrite);
  if (op == "STFT") return spell_out_one_side(node, rewrite);
  if (op == "Scan" && opset < 9) return refuse_batched_scan(node);
  if (op == "MatMul") return widen_mat_mul(node, rewrite);
  if (opset < 13 && (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax")) return rewrite_softmax(node, rewrite);
  if (opset < 10 && op == "Upsample") return rewrite_resize(node, rewrite);
  if (opset == 10 && op == "Resize") return rewrite_resize(node, rewrite);
  if (opset < 9 && op == "BatchNormalization") return refuse_activation_norm(node);
  return false;
}

}  // namespace

pb::NodeProto& Rewrite::add(const pb::NodeProto& origin, const char* op, std::vector<std::string> inputs,
                            const std::string& output) {
  return add_node_like(*this, origin, op, std::move(inputs), output, "");
}

pb::NodeProto& Rewrite::add_final(const pb::NodeProto& origin, const char* op, std::vector<std::string> inputs,
                                  const std::string& output) {
  return add_node_like(*this, origin, op, std::move(inputs), output, kFinalDomain);
}

std::string Rewrite::constant(pb::TensorProto tensor) {
  std::string name = tensor.name();
  graph.add_initializer()->Swap(&tensor);
  return name;
}

std::optional<std::vector<std::int64_t>> Rewrite::extents(const std::string& value) const {
  if (const auto* tensor = initialiser(value))
    return std::vector<std::int64_t>(tensor->dims().begin(), tensor->dims().end());
  const auto found = types.find(value);
  if (found == types.end() || !found->second->tensor_type().has_shape()) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const auto& dim : found->second->tensor_type().shape().dim())
    result.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  return result;
}

int Rewrite::element_type(const std::string& value) const {
  if (const auto* tensor = initialiser(value)) return tensor->data_type();
  const auto found = types.find(value);
  return found == types.end() ? 0 : found->second->tensor_type().elem_type();
}

const pb::TensorProto* Rewrite::initialiser(const std::string& value) const {
  for (const auto& tensor : graph.initializer())
    if (tensor.name() == value) return &tensor;
  return nullptr;
}

Result<void> rewrite_experiments(pb::ModelProto& model) {
  Names names(model.graph());
  COLLAGE_TRY_VOID(rewrite_graph(*model.mutable_graph(), names, opset_of(model, ""), {}, experiment_rule));
  set_opset(model, kFinalDomain, 1);
  return {};
}

Result<void> rewrite_legacy(pb::ModelProto& model) {
  Names names(model.graph());
  return rewrite_graph(*model.mutable_graph(), names, opset_of(model, ""), {}, legacy_rule);
}

}  // namespace collage
