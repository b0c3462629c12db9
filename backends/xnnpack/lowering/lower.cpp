#include "lowering/lower.h"

#include <algorithm>

#include "lowering/rules_of_operators.h"

namespace collage::xnnpack {
namespace {

using Rule = Done (*)(Composer&, const Node&);

/// Tensors of the library have at most so many axes.
constexpr std::size_t kMostAxes = 6;

const std::map<std::string, Rule, std::less<>>& operators() {
  static const std::map<std::string, Rule, std::less<>> kRules = {{"Conv", lower_convolution},
                                                                  {"ConvTranspose", lower_deconvolution},
                                                                  {"MaxPool", lower_pooling},
                                                                  {"AveragePool", lower_pooling},
                                                                  {"GlobalMaxPool", lower_pooling},
                                                                  {"Resize", lower_resize},
                                                                  {"MatMul", lower_matmul},
                                                                  {"Gemm", lower_gemm},
                                                                  {"Relu", lower_clip},
                                                                  {"Clip", lower_clip},
                                                                  {"Abs", lower_unary},
                                                                  {"Ceil", lower_unary},
                                                                  {"Elu", lower_unary},
                                                                  {"Exp", lower_unary},
                                                                  {"Floor", lower_unary},
                                                                  {"Gelu", lower_unary},
                                                                  {"HardSwish", lower_unary},
                                                                  {"LeakyRelu", lower_unary},
                                                                  {"Log", lower_unary},
                                                                  {"Neg", lower_unary},
                                                                  {"Pow", lower_unary},
                                                                  {"Reciprocal", lower_unary},
                                                                  {"Round", lower_unary},
                                                                  {"Sigmoid", lower_unary},
                                                                  {"Sqrt", lower_unary},
                                                                  {"Tanh", lower_unary},
                                                                  {"HardSigmoid", lower_hard_sigmoid},
                                                                  {"Add", lower_binary},
                                                                  {"Div", lower_binary},
                                                                  {"Max", lower_binary},
                                                                  {"Min", lower_binary},
                                                                  {"Mul", lower_binary},
                                                                  {"PRelu", lower_binary},
                                                                  {"Sub", lower_binary},
                                                                  {"Sum", lower_binary},
                                                                  {"Softmax", lower_softmax},
                                                                  {"GlobalAveragePool", lower_reduction},
                                                                  {"ReduceMean", lower_reduction},
                                                                  {"ReduceSum", lower_reduction},
                                                                  {"Transpose", lower_transpose},
                                                                  {"Reshape", lower_reshape},
                                                                  {"Flatten", lower_reshape},
                                                                  {"Squeeze", lower_reshape},
                                                                  {"Unsqueeze", lower_reshape},
                                                                  {"Concat", lower_concat},
                                                                  {"Pad", lower_pad},
                                                                  {"DequantizeLinear", lower_dequantise},
                                                                  {"QuantizeLinear", lower_quantise},
                                                                  {"QLinearConv", lower_qlinear_convolution},
                                                                  {"QLinearMatMul", lower_qlinear_matmul}};
  return kRules;
}

/// Of com.microsoft.
const std::map<std::string, Rule, std::less<>>& contributed_operators() {
  static const std::map<std::string, Rule, std::less<>> kRules = {{"QLinearAdd", lower_qlinear_binary},
                                                                  {"QLinearMul", lower_qlinear_binary},
                                                                  {"QLinearGlobalAveragePool", lower_qlinear_unary},
                                                                  {"QLinearLeakyRelu", lower_qlinear_unary},
                                                                  {"QLinearSigmoid", lower_qlinear_unary}};
  return kRules;
}

Rule rule_of(const Node& node) {
  if (!node.domain.empty() && node.domain != "com.microsoft") return nullptr;
  const auto& rules = node.domain.empty() ? operators() : contributed_operators();
  const auto found = rules.find(node.op_type);
  return found != rules.end() ? found->second : nullptr;
}

/// Operators whose values may be bytes; what their other operands are is for their rules.
bool takes_bytes(const Node& node) {
  return node.op_type.starts_with("QLinear") || is_op(node, "DequantizeLinear") || is_op(node, "QuantizeLinear") ||
         is_op(node, "MaxPool");
}

Done check_type(const Graph& graph, ValueId id, bool may_be_bytes = false) {
  const ValueType& type = graph.value(id).type;
  if (!type.is_static()) return refuse(RefusalReason::kShape, "no static shape: " + to_string(type));
  if (type.element != ElementType::kFloat32 && !(may_be_bytes && is_byte(type.element)))
    return refuse(RefusalReason::kType, to_string(type));
  if (type.extents().size() > kMostAxes) return refuse(RefusalReason::kShape, "more than six axes");
  if (element_count(type.extents()) == 0) return refuse(RefusalReason::kShape, "no elements");
  return {};
}

/// Every value that is computed or computed with is f32, or bytes for those operators that take such; constants of
/// other types are axes, extents and amounts, and what bytes stand for.
Done check_types(const Graph& graph, const Region& region) {
  for (const ValueId id : region.inputs)
    if (auto ok = check_type(graph, id, true); !ok) return ok;
  for (const std::size_t n : region.nodes.members()) {
    const Node& node = graph.nodes[n];
    if (rule_of(node) == nullptr) return refuse(RefusalReason::kOperator, node.op_type);
    const bool has_bytes = takes_bytes(node);
    for (const ValueId id : node.outputs)
      if (id.valid())
        if (auto ok = check_type(graph, id, has_bytes); !ok) return ok;
    if (has_bytes) continue;
    for (const ValueId id : node.inputs)
      if (id.valid() && constant_of(graph, id) == nullptr)
        if (auto ok = check_type(graph, id); !ok) return ok;
    for (const ValueId id : node.inputs)
      if (const Tensor* tensor = constant_of(graph, id); tensor != nullptr && is_float(tensor->type))
        if (tensor->size() > 0)
          if (auto ok = check_type(graph, id); !ok) return ok;
    if (const ValueId first = input_of(node, 0); first.valid())
      if (auto ok = check_type(graph, first); !ok) return ok;
  }
  return {};
}

Done lower_node(Composer& composer, const Node& node) {
  const Rule rule = rule_of(node);
  if (takes_bytes(node) && !is_op(node, "MaxPool")) return rule(composer, node);
  if (const auto done = lower_in_bytes(composer, node, rule)) return *done;
  // Products look at their weights first.
  const bool is_product = is_op(node, "MatMul") || is_op(node, "Gemm");
  if (!is_product)
    if (auto ok = need_readable(composer, node); !ok) return ok;
  return rule(composer, node);
}

}  // namespace

std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, Layout layout, ByteForm form) {
  if (auto ok = check_types(graph, region); !ok) return std::unexpected(ok.error());
  Composer composer(graph, region, layout, form);
  for (const std::size_t n : region.nodes.members()) {
    if (composer.is_skipped(n)) continue;
    if (auto ok = lower_node(composer, graph.nodes[n]); !ok) return std::unexpected(ok.error());
  }
  return composer.take();
}

std::string step_operators() {
  return "Relu|Clip|Abs|Elu|Exp|Gelu|HardSigmoid|HardSwish|LeakyRelu|Neg|Pow|PRelu|Reciprocal|Sigmoid|Sqrt|Tanh|Add|"
         "Div|Max|Min|Mul|Sub|Sum";
}

}  // namespace collage::xnnpack
