// Attention as exporters write it: which nodes of a region are its products, its softmax and the moves about them.
#include <algorithm>

#include "compiler/analysis/attention_form.h"
#include "compiler/expressions/expression.h"

namespace collage::native {
namespace {

bool is_regrouping(const Node& node) {
  return is_op(node, "Reshape") || is_op(node, "Flatten") || is_op(node, "Squeeze") || is_op(node, "Unsqueeze");
}

Extents without_last(const Extents& extents, std::size_t count) {
  return {extents.begin(), extents.end() - static_cast<std::ptrdiff_t>(count)};
}

/// Walks the nodes of a region from values to what makes them.
class Walk {
 public:
  Walk(const Graph& graph, const Region& region) : graph_(graph), region_(region), seen(graph.nodes.size()) {}

  [[nodiscard]] Extents extents(ValueId id) const { return graph_.value(id).type.extents(); }
  [[nodiscard]] const Node* maker(ValueId id) const {
    const auto n = maker_index(id);
    return n ? &graph_.nodes[*n] : nullptr;
  }
  void see(ValueId id) {
    if (const auto n = maker_index(id)) seen.insert(*n);
  }

  /// The value with Transposes, regroupings and scales before it taken away.
  Strided strided(ValueId id, float& factor) {
    const Node* node = maker(id);
    if (node != nullptr && is_op(*node, "Transpose")) {
      see(id);
      const Strided from = strided(node->inputs[0], factor);
      Strided to{.source = from.source, .extents = {}, .strides = {}};
      for (const std::int64_t axis : permutation(*node, from.extents.size())) {
        to.extents.push_back(from.extents[static_cast<std::size_t>(axis)]);
        to.strides.push_back(from.strides[static_cast<std::size_t>(axis)]);
      }
      return to;
    }
    if (node != nullptr && is_regrouping(*node)) {
      const NodeSet before = seen;
      const float factor_before = factor;
      see(id);
      const Strided from = strided(node->inputs[0], factor);
      if (auto strides = regrouped(from.extents, from.strides, extents(id)))
        return {from.source, extents(id), *strides};
      seen = before;
      factor = factor_before;
    }
    if (const auto scale = node != nullptr ? scale_of(*node) : std::nullopt) {
      see(id);
      factor *= *scale;
      return strided(node->inputs[0], factor);
    }
    return {id, extents(id), strides_of(extents(id), plain())};
  }

  /// `id` without regroupings that leave the last axis as it is.
  ValueId ungrouped(ValueId id) {
    const Node* node = maker(id);
    while (node != nullptr && is_regrouping(*node) && !extents(node->inputs[0]).empty() && !extents(id).empty() &&
           extents(node->inputs[0]).back() == extents(id).back()) {
      see(id);
      id = node->inputs[0];
      node = maker(id);
    }
    return id;
  }

  /// The one value made by `op_type` that element-wise nodes make `id` of; nothing when there are others or none.
  std::optional<ValueId> root(ValueId id, std::string_view op_type) {
    std::optional<ValueId> found;
    return add_roots(id, op_type, found) ? found : std::nullopt;
  }

  static Extents permutation(const Node& node, std::size_t rank) {
    Extents order;
    for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    return attribute_or<Extents>(node, "perm", order);
  }

 private:
  [[nodiscard]] std::optional<std::size_t> maker_index(ValueId id) const {
    for (const std::size_t n : region_.nodes.members())
      if (id.valid() && graph_.nodes[n].outputs[0] == id) return n;
    return std::nullopt;
  }

  /// The number that a Mul or Div scales its first operand by.
  [[nodiscard]] std::optional<float> scale_of(const Node& node) const {
    if (!is_op(node, "Mul") && !is_op(node, "Div")) return std::nullopt;
    const Tensor* number = constant_of(graph_, node.inputs[1]);
    if (number == nullptr || number->type != ElementType::kFloat32 || number->size() != 1 ||
        number->extents.size() > extents(node.inputs[0]).size())
      return std::nullopt;
    const float value = *reinterpret_cast<const float*>(number->data.data());
    return is_op(node, "Mul") ? value : 1.F / value;
  }

  bool add_roots(ValueId id, std::string_view op_type, std::optional<ValueId>& found) {
    const Node* node = maker(id);
    if (node == nullptr) return true;
    if (is_op(*node, op_type)) {
      const bool is_same = !found || *found == id;
      found = id;
      return is_same;
    }
    if (!is_element_node(graph_, *node)) return false;
    see(id);
    return std::ranges::all_of(node->inputs,
                               [&](ValueId one) { return !one.valid() || add_roots(one, op_type, found); });
  }

  const Graph& graph_;
  const Region& region_;

 public:
  NodeSet seen;  ///< nodes that were walked through
};

/// Moves after the result that end in an output of the region: where an element of the product lies in it.
void follow_moves(const Graph& graph, const Region& region, Walk& walk, AttentionForm& form) {
  std::vector<const Node*> moves;
  ValueId last = form.result;
  for (const std::size_t n : region.nodes.members()) {
    const Node& node = graph.nodes[n];
    if (node.inputs.empty() || node.inputs[0] != last || (!is_op(node, "Transpose") && !is_regrouping(node))) continue;
    moves.push_back(&node);
    last = node.outputs[0];
  }
  if (moves.empty() || region.outputs.size() != 1 || region.outputs[0] != last) return;
  Extents extents = walk.extents(last);
  Extents strides = strides_of(extents, plain());
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    const Extents before = walk.extents((*move)->inputs[0]);
    if (is_op(**move, "Transpose")) {
      const Extents order = Walk::permutation(**move, before.size());
      Extents moved(before.size());
      for (std::size_t i = 0; i < order.size(); ++i) moved[static_cast<std::size_t>(order[i])] = strides[i];
      strides = moved;
    } else {
      const auto grouped = regrouped(extents, strides, before);
      if (!grouped) return;
      strides = *grouped;
    }
    extents = before;
  }
  for (const Node* move : moves) walk.see(move->outputs[0]);
  form.result = last;
  form.result_strides = strides;
  form.is_moved = true;
}

std::optional<AttentionForm> form_of(const Graph& graph, const Region& region, const Node& second) {
  Walk walk(graph, region);
  AttentionForm form;
  form.weights = walk.ungrouped(second.inputs[0]);
  const auto softmax = walk.root(form.weights, "Softmax");
  if (!softmax) return std::nullopt;
  form.softmax = *softmax;
  const Node& soft = *walk.maker(form.softmax);
  form.logits = walk.ungrouped(soft.inputs[0]);
  const auto product = walk.root(form.logits, "MatMul");
  if (!product) return std::nullopt;
  form.product = *product;
  const Node& first = *walk.maker(form.product);
  const Extents scores = walk.extents(form.product);
  const Extents out = walk.extents(second.outputs[0]);
  const Extents soft_extents = walk.extents(form.softmax);
  if (scores.size() < 2 || out.size() != scores.size() || walk.extents(form.logits) != scores) return std::nullopt;
  const std::int64_t axis = from_front(attribute_or<std::int64_t>(soft, "axis", -1), soft_extents.size());
  if (axis + 1 != static_cast<std::int64_t>(soft_extents.size()) || soft_extents.back() != scores.back())
    return std::nullopt;
  if (form.weights != form.softmax && (soft_extents != scores || walk.extents(form.weights) != scores))
    return std::nullopt;
  if (without_last(out, 1) != without_last(scores, 1)) return std::nullopt;

  form.queries = aligned_to(walk.strided(first.inputs[0], form.factor), scores.size());
  form.keys = aligned_to(walk.strided(first.inputs[1], form.factor), scores.size());
  std::swap(form.keys.extents.back(), form.keys.extents[scores.size() - 2]);
  std::swap(form.keys.strides.back(), form.keys.strides[scores.size() - 2]);
  float value_factor = 1.F;
  form.values = aligned_to(walk.strided(second.inputs[1], value_factor), scores.size());
  if (value_factor != 1.F) return std::nullopt;
  form.batch = without_last(scores, 2);
  form.rows = scores[scores.size() - 2];
  form.columns = scores.back();
  form.depth = form.queries.extents.back();
  form.width = out.back();
  form.result = second.outputs[0];
  form.result_strides = strides_of(out, plain());
  for (const ValueId id : {form.product, form.softmax, form.result}) walk.see(id);
  follow_moves(graph, region, walk, form);
  form.nodes = walk.seen;
  return form;
}

}  // namespace

std::optional<AttentionForm> written_attention(const Graph& graph, const Region& region) {
  for (const std::size_t n : region.nodes.members())
    if (is_op(graph.nodes[n], "MatMul"))
      if (auto form = form_of(graph, region, graph.nodes[n])) return form;
  return std::nullopt;
}

}  // namespace collage::native
