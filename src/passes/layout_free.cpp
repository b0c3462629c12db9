// The table of operators that any dimension order suits, and how each one's axes are renamed.
// Dimension a of the original order is dimension perm[a] of the new one.
#include "passes/layout_free.h"

#include <algorithm>
#include <set>
#include <string>

namespace collage {
namespace {

const std::set<std::string>& unary_operators() {
  static const std::set<std::string> kNames = {"Relu",  "LeakyRelu", "Clip",     "Sigmoid",    "Tanh",
                                               "Elu",   "Selu",      "Celu",     "HardSwish",  "HardSigmoid",
                                               "Gelu",  "Mish",      "Softplus", "Softsign",   "ThresholdedRelu",
                                               "Swish", "Erf",       "Exp",      "Log",        "Sqrt",
                                               "Neg",   "Abs",       "Sign",     "Reciprocal", "Floor",
                                               "Ceil",  "Round",     "Cast",     "Identity",   "Not",
                                               "Sin",   "Cos",       "IsNaN",    "IsInf"};
  return kNames;
}

const std::set<std::string>& broadcasting_operators() {
  static const std::set<std::string> kNames = {
      "Add",  "Sub",   "Mul",   "Div",   "Pow",  "Max",     "Min",         "Sum",
      "Mean", "PRelu", "Where", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual",
      "And",  "Or",    "Xor",   "Mod"};
  return kNames;
}

const std::set<std::string>& reductions() {
  static const std::set<std::string> kNames = {"ReduceMean",      "ReduceSum",   "ReduceMax", "ReduceMin",
                                               "ReduceProd",      "ReduceL1",    "ReduceL2",  "ReduceSumSquare",
                                               "ReduceLogSumExp", "ReduceLogSum"};
  return kNames;
}

bool is_among(const Node& node, const std::set<std::string>& names) {
  return node.domain.empty() && names.contains(node.op_type);
}

/// Operators with one `axis` attribute that keep the rank, and the attribute's default.
std::optional<std::int64_t> default_axis(const Node& node) {
  if (is_op(node, "Softmax") || is_op(node, "LogSoftmax") || is_op(node, "Hardmax")) return -1;
  if (is_op(node, "Concat") || is_op(node, "Split")) return 0;
  const bool keeps = attribute_or<std::int64_t>(node, "keepdims", 1) != 0;
  if ((is_op(node, "ArgMax") || is_op(node, "ArgMin")) && keeps) return 0;
  return std::nullopt;
}

std::optional<Integers> normal_axes(const Graph& graph, ValueId id, std::size_t rank) {
  const auto axes = integers_of(graph, id);
  if (!axes || axes->empty()) return std::nullopt;
  Integers result;
  for (const std::int64_t axis : *axes) {
    const auto at = normal_axis(axis, rank);
    if (!at) return std::nullopt;
    result.push_back(static_cast<std::int64_t>(*at));
  }
  return result;
}

/// What is left after removing the axes comes in the same order in both layouts.
bool keeps_order(const Integers& removed, const Permutation& perm) {
  std::int64_t last = -1;
  for (std::size_t axis = 0; axis < perm.size(); ++axis) {
    if (std::find(removed.begin(), removed.end(), static_cast<std::int64_t>(axis)) != removed.end()) continue;
    if (perm[axis] < last) return false;
    last = perm[axis];
  }
  return true;
}

/// Resize is fast (and in some engines allowed) only where batch and channels come first.
bool may_resize(const Graph& graph, const Node& node, const Permutation& perm) {
  if (find_attribute<Integers>(node, "axes") != nullptr) return false;
  if (const Tensor* roi = constant_of(graph, input_of(node, 1)); input_of(node, 1).valid() && (!roi || roi->size() > 0))
    return false;
  if (constant_of(graph, input_of(node, 2)) == nullptr && constant_of(graph, input_of(node, 3)) == nullptr)
    return false;
  const auto input = static_extents(graph, node.inputs[0]);
  const auto output = static_extents(graph, node.outputs[0]);
  if (!input || !output || input->size() < 3) return false;
  const Permutation back = inverse(perm);
  const auto first = static_cast<std::size_t>(back[0]);
  const auto second = static_cast<std::size_t>(back[1]);
  return (*input)[first] == (*output)[first] && (*input)[second] == (*output)[second];
}

bool may_pad(const Graph& graph, const Node& node, std::size_t rank) {
  const auto pads = integers_of(graph, input_of(node, 1));
  if (!pads) return false;
  if (!input_of(node, 3).valid()) return pads->size() == 2 * rank;
  return normal_axes(graph, node.inputs[3], rank).has_value();
}

bool may_slice(const Graph& graph, const Node& node, std::size_t rank) {
  if (input_of(node, 3).valid()) return normal_axes(graph, node.inputs[3], rank).has_value();
  return integers_of(graph, input_of(node, 1)).has_value();
}

std::optional<LayoutFree> broadcasting(const Graph& graph, const Node& node, std::size_t rank) {
  LayoutFree result{.framed = std::vector<bool>(node.inputs.size(), true), .output_framed = true};
  if (rank_of(graph, node.outputs[0]) != rank) return std::nullopt;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto input_rank = rank_of(graph, node.inputs[i]);
    if (!input_rank) return std::nullopt;
    const auto extents = static_extents(graph, node.inputs[i]);
    if (extents && element_count(*extents) == 1 && *input_rank < rank)
      result.framed[i] = false;
    else if (*input_rank != rank && constant_of(graph, node.inputs[i]) == nullptr)
      return std::nullopt;
    if (const Tensor* constant = constant_of(graph, node.inputs[i]); constant != nullptr && bits_of(constant->type) < 8)
      return std::nullopt;
  }
  return result;
}

std::int64_t new_axis(std::int64_t axis, const Permutation& perm) { return perm[*normal_axis(axis, perm.size())]; }

ValueId integers(Editor& editor, const Node& node, const std::string& role, const Integers& values) {
  return editor.add_constant(editor.value(node.outputs[0]).name + "_" + role, integer_tensor(values));
}

Integers renamed_axes(const Graph& graph, ValueId id, const Permutation& perm) {
  Integers axes = *integers_of(graph, id);
  for (std::int64_t& axis : axes) axis = new_axis(axis, perm);
  return axes;
}

}  // namespace

std::optional<LayoutFree> layout_free(const Graph& graph, const Node& node, const Permutation& perm) {
  const std::size_t rank = perm.size();
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() || !node.outputs[0].valid())
    return std::nullopt;
  if (is_among(node, broadcasting_operators())) return broadcasting(graph, node, rank);
  if (rank_of(graph, node.inputs[0]) != rank) return std::nullopt;
  LayoutFree first_only{.framed = std::vector<bool>(node.inputs.size(), false), .output_framed = true};
  first_only.framed[0] = true;
  // Transposing 16-bit values is cheaper, but they are 16-bit only at the border, where widen_16bit keeps them.
  if (is_op(node, "Cast") && bits_of(element_of(graph, node.inputs[0])) == 16) return std::nullopt;
  if (is_among(node, unary_operators())) return first_only;
  if (default_axis(node)) {
    if (is_op(node, "Concat")) first_only.framed.assign(node.inputs.size(), true);
    return first_only;
  }
  if (is_among(node, reductions())) {
    const auto axes = normal_axes(graph, input_of(node, 1), rank);
    if (!axes) return std::nullopt;
    first_only.output_framed = attribute_or<std::int64_t>(node, "keepdims", 1) != 0;
    if (!first_only.output_framed && !keeps_order(*axes, perm)) return std::nullopt;
    return first_only;
  }
  const bool accepted = (is_op(node, "Pad") && may_pad(graph, node, rank)) ||
                        (is_op(node, "Slice") && may_slice(graph, node, rank)) ||
                        (is_op(node, "Resize") && may_resize(graph, node, perm));
  return accepted ? std::optional(first_only) : std::nullopt;
}

Node with_renamed_axes(Editor& editor, const Node& node, const Permutation& perm) {
  const Graph& graph = editor.graph();
  Node result = node;
  if (const auto axis = default_axis(node)) {
    set_attribute(result, "axis", new_axis(attribute_or<std::int64_t>(node, "axis", *axis), perm));
  } else if (is_among(node, reductions())) {
    result.inputs[1] = integers(editor, node, "axes", renamed_axes(graph, node.inputs[1], perm));
  } else if (is_op(node, "Pad") && input_of(node, 3).valid()) {
    result.inputs[3] = integers(editor, node, "axes", renamed_axes(graph, node.inputs[3], perm));
  } else if (is_op(node, "Pad")) {
    const Integers pads = *integers_of(graph, node.inputs[1]);
    const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(perm.size());
    const Permutation back = inverse(perm);
    Integers both = permuted(Integers(pads.begin(), middle), back);
    const Integers ends = permuted(Integers(middle, pads.end()), back);
    both.insert(both.end(), ends.begin(), ends.end());
    result.inputs[1] = integers(editor, node, "pads", both);
  } else if (is_op(node, "Slice")) {
    Integers axes;
    if (input_of(node, 3).valid()) {
      axes = renamed_axes(graph, node.inputs[3], perm);
    } else {
      const std::size_t count = integers_of(graph, node.inputs[1])->size();
      axes.assign(perm.begin(), perm.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (result.inputs.size() < 4) result.inputs.resize(4);
    result.inputs[3] = integers(editor, node, "axes", axes);
  } else if (is_op(node, "Resize")) {
    for (const std::size_t port : {std::size_t{2}, std::size_t{3}})
      if (const Tensor* extents = constant_of(graph, input_of(node, port)); extents != nullptr && extents->size() > 0) {
        const auto size = static_cast<std::size_t>(extents->size());
        const Permutation back = inverse(perm);
        const Tensor column = with_extents(*extents, {static_cast<std::int64_t>(size), 1});
        Tensor moved = column;
        const std::size_t bytes = extents->data.size() / size;
        moved.data = Buffer::make(extents->data.size(), [&](std::span<std::byte> out) {
          for (std::size_t i = 0; i < size; ++i)
            std::copy_n(column.data.data() + static_cast<std::size_t>(back[i]) * bytes, bytes, out.data() + i * bytes);
        });
        moved.extents = {static_cast<std::int64_t>(size)};
        result.inputs[port] = editor.add_constant(editor.value(node.outputs[0]).name + "_extents", moved);
      }
  }
  return result;
}

}  // namespace collage
