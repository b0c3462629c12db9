// Writes fused contrib operators of ONNX Runtime (left in models saved after its optimiser) as standard ones, so that
// every backend sees the convolution and the activation it knows.
#include <map>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

/// The standard activation that a fused operator names, reading `input`; nothing for one we do not know.
std::optional<Node> activation_of(Editor& editor, const Node& fused, ValueId input) {
  const auto kind = attribute_or<std::string>(fused, "activation", "");
  const auto params = attribute_or<std::vector<float>>(fused, "activation_params", {});
  Node node{.name = fused.name + "_" + kind,
            .domain = {},
            .op_type = kind,
            .inputs = {input},
            .outputs = fused.outputs,
            .captures = {},
            .attributes = {}};
  if (kind == "Relu" || kind == "Tanh" || kind == "Sigmoid") return node;
  if (kind == "LeakyRelu" && params.size() == 1) {
    set_attribute(node, "alpha", params[0]);
    return node;
  }
  if (kind == "HardSigmoid" && params.size() == 2) {
    set_attribute(node, "alpha", params[0]);
    set_attribute(node, "beta", params[1]);
    return node;
  }
  if (kind != "Clip" || params.size() != 2) return std::nullopt;
  const auto bound = [&](float value) {
    return editor.add_constant(fused.name + "_bound", make_tensor<float>(ElementType::kFloat32, {}, {value}));
  };
  node.inputs.push_back(bound(params[0]));
  node.inputs.push_back(bound(params[1]));
  return node;
}

/// FusedConv and FusedGemm: the operator, an optional sum with a fourth input (FusedConv only), the activation.
bool expand(Editor& editor, NodeId id) {
  static const std::map<std::string, std::string> kFused = {{"FusedConv", "Conv"}, {"FusedGemm", "Gemm"}};
  const Node fused = editor.node(id);
  const auto plain = kFused.find(fused.op_type);
  if (fused.domain != "com.microsoft" || plain == kFused.end()) return false;
  if (element_of(editor.graph(), fused.inputs[0]) != ElementType::kFloat32) return false;
  const ValueType type = editor.value(fused.outputs[0]).type;
  const std::string base = editor.value(fused.outputs[0]).name;
  const bool activates = find_attribute<std::string>(fused, "activation") != nullptr;
  const ValueId summand = input_of(fused, 3);
  const ValueId linear = activates || summand.valid() ? editor.add_value(base + "_linear", type) : fused.outputs[0];
  std::optional<Node> activation;
  ValueId before = linear;
  if (summand.valid() && activates) before = editor.add_value(base + "_sum", type);
  if (activates && !(activation = activation_of(editor, fused, before))) return false;

  Node core{.name = fused.name,
            .domain = {},
            .op_type = plain->second,
            .inputs = fused.inputs,
            .outputs = {linear},
            .captures = {},
            .attributes = {}};
  if (core.inputs.size() > 3) core.inputs.resize(3);
  for (const Attribute& attribute : fused.attributes)
    if (!attribute.name.starts_with("activation")) core.attributes.push_back(attribute);
  // The core keeps the node's name; what follows it is put in order when the editor finishes.
  editor.replace(id, std::move(core));
  if (summand.valid())
    editor.insert_before(id, Node{.name = fused.name + "_sum",
                                  .domain = {},
                                  .op_type = "Add",
                                  .inputs = {linear, summand},
                                  .outputs = {activates ? before : fused.outputs[0]},
                                  .captures = {},
                                  .attributes = {}});
  if (activates) editor.insert_before(id, std::move(*activation));
  return true;
}

/// com.microsoft operators that the standard took over with the same meaning.
bool rename(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (node.domain != "com.microsoft" || node.op_type != "Gelu") return false;
  const auto version = editor.graph().opsets.find("");
  if (version == editor.graph().opsets.end() || version->second < 20) return false;
  Node plain = node;
  plain.domain.clear();
  editor.replace(id, std::move(plain));
  return true;
}

}  // namespace

Result<bool> expand_contrib(Graph& graph, PassContext&) { return apply_rules(graph, {expand, rename}); }

}  // namespace collage
