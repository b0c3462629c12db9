// Finds layer normalisation written as arithmetic: (x - mean) / sqrt(variance + epsilon), and what follows as scale
// and shift, over the last axes. In two steps: first the bare normalisation, then a constant scale and shift into it.
#include <algorithm>
#include <cmath>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

/// First of the trailing axes that the reduction covers; nothing when it is not a mean over trailing axes, kept.
std::optional<std::size_t> mean_axis(const Graph& graph, const Node* mean) {
  if (mean == nullptr || attribute_or<std::int64_t>(*mean, "keepdims", 1) == 0) return std::nullopt;
  const auto rank = rank_of(graph, mean->inputs[0]);
  const auto axes = integers_of(graph, input_of(*mean, 1));
  if (!rank || !axes || axes->empty() || axes->size() > *rank) return std::nullopt;
  const std::size_t first = *rank - axes->size();
  std::vector<bool> covered(*rank, false);
  for (const std::int64_t axis : *axes) {
    const auto at = normal_axis(axis, *rank);
    if (!at || *at < first || covered[*at]) return std::nullopt;
    covered[*at] = true;
  }
  return first;
}

/// d for which `value` is d squared.
ValueId square_root_of(const Editor& editor, ValueId value) {
  if (const Node* product = editor.producer_op(value, "Mul"))
    return product->inputs[0] == product->inputs[1] ? product->inputs[0] : ValueId{};
  const Node* power = editor.producer_op(value, "Pow");
  return power != nullptr && is_scalar(editor.graph(), power->inputs[1], 2.0) ? power->inputs[0] : ValueId{};
}

struct NormMatch {
  ValueId x;
  std::size_t axis = 0;
  double epsilon = 0;
};

/// `node` divides a centred value by its standard deviation.
std::optional<NormMatch> match(const Editor& editor, const Node& node) {
  const Graph& graph = editor.graph();
  const Node* centred = editor.producer_op(node.inputs[0], "Sub");
  const Node* root = editor.producer_op(node.inputs[1], "Sqrt");
  const Node* guarded = root == nullptr ? nullptr : editor.producer_op(root->inputs[0], "Add");
  if (centred == nullptr || guarded == nullptr) return std::nullopt;
  const std::size_t side = scalar_of(graph, guarded->inputs[0]) ? 0 : 1;
  const auto epsilon = scalar_of(graph, guarded->inputs[side]);
  const Node* variance = editor.producer_op(guarded->inputs[1 - side], "ReduceMean");
  const auto variance_axis = mean_axis(graph, variance);
  if (!epsilon || *epsilon <= 0 || !variance_axis) return std::nullopt;
  const ValueId difference = square_root_of(editor, variance->inputs[0]);
  if (difference != node.inputs[0]) return std::nullopt;
  const Node* mean = editor.producer_op(centred->inputs[1], "ReduceMean");
  const auto axis = mean_axis(graph, mean);
  if (axis != variance_axis || mean->inputs[0] != centred->inputs[0]) return std::nullopt;
  return NormMatch{.x = centred->inputs[0], .axis = *axis, .epsilon = *epsilon};
}

bool normalise(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Div")) return false;
  const auto version = editor.graph().opsets.find("");
  if (version == editor.graph().opsets.end() || version->second < 17) return false;
  const auto found = match(editor, node);
  if (!found || element_of(editor.graph(), found->x) != ElementType::kFloat32) return false;
  const auto extents = static_extents(editor.graph(), found->x);
  if (!extents) return false;
  const Extents tail(extents->begin() + static_cast<std::ptrdiff_t>(found->axis), extents->end());
  const std::vector<double> ones(static_cast<std::size_t>(element_count(tail)), 1.0);
  const ValueId scale = editor.add_constant(editor.value(node.outputs[0]).name + "_scale", float_tensor(tail, ones));
  editor.replace(id, Node{.name = node.name,
                          .domain = {},
                          .op_type = "LayerNormalization",
                          .inputs = {found->x, scale},
                          .outputs = node.outputs,
                          .captures = {},
                          .attributes = {Attribute{.name = "axis",
                                                   .value = static_cast<std::int64_t>(found->axis) -
                                                            static_cast<std::int64_t>(extents->size())},
                                         Attribute{.name = "epsilon", .value = static_cast<float>(found->epsilon)}}});
  return true;
}

/// The constant spread over the normalised extents; nothing when it varies outside of them.
std::optional<std::vector<double>> spread(const Graph& graph, ValueId id, const Extents& tail) {
  const auto values = floats_of(graph, id);
  if (!values || values->empty()) return std::nullopt;
  const auto count = static_cast<std::size_t>(element_count(tail));
  if (values->size() == 1) return std::vector<double>(count, values->front());
  Extents extents = constant_of(graph, id)->extents;
  while (extents.size() > tail.size() && extents.front() == 1) extents.erase(extents.begin());
  if (extents != tail) return std::nullopt;
  return values;
}

/// Mul or Add of a constant after a normalisation without shift (a scale does not pass an existing shift).
bool take_constant(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Mul") && !is_op(node, "Add")) return false;
  const Graph& graph = editor.graph();
  const std::size_t side = constant_of(graph, node.inputs[0]) != nullptr ? 0 : 1;
  const ValueId normal = node.inputs[1 - side];
  const Node* maker = editor.producer_op(normal, "LayerNormalization");
  if (maker == nullptr || !editor.has_one_reader(normal) || input_of(*maker, 2).valid() || maker->outputs.size() > 1)
    return false;
  if (!same_type(graph, normal, node.outputs[0])) return false;
  const Tensor* scale = constant_of(graph, maker->inputs[1]);
  if (scale == nullptr) return false;
  const Extents tail = scale->extents;
  const auto values = spread(graph, node.inputs[side], tail);
  if (!values) return false;
  const NodeId made_by = editor.producer(normal);
  const std::string base = maker->name;
  if (is_op(node, "Add")) {
    const ValueId bias = editor.add_constant(base + "_bias", float_tensor(tail, *values));
    if (maker->inputs.size() > 2)
      editor.set_input(made_by, 2, bias);
    else
      editor.add_input(made_by, bias);
  } else {
    auto product = *floats_of(graph, maker->inputs[1]);
    for (std::size_t i = 0; i < product.size(); ++i) product[i] *= (*values)[i];
    editor.set_input(made_by, 1, editor.add_constant(base + "_scale", float_tensor(tail, product)));
  }
  editor.absorb(id, normal);
  return true;
}

}  // namespace

Result<bool> recognise_layer_norm(Graph& graph, PassContext&) { return apply_rules(graph, {normalise, take_constant}); }

}  // namespace collage
