#include "analysis.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace collage::blas {
namespace {

using Done = std::expected<void, Refusal>;
using List = std::vector<std::int64_t>;

bool is_fused_matmul(const Node& node) { return node.domain == "com.microsoft" && node.op_type == "FusedMatMul"; }

bool is_head(const Node& node) {
  return is_op(node, "MatMul") || is_op(node, "Gemm") || is_op(node, "Conv") || is_fused_matmul(node);
}

bool is_around(const Node& node) {
  return is_op(node, "Transpose") || is_op(node, "Add") || is_op(node, "Mul") || is_op(node, "Div") ||
         is_op(node, "Relu");
}

/// One reading of a region: what is known so far, and the nodes that are left.
struct Reader {
  const Graph& graph;
  const Region& region;
  NodeSet left;
  Analysis analysis = {};
  ValueId running;  ///< what the nodes read so far give

  [[nodiscard]] const Node* first() const {
    const std::size_t n = left.next();
    return n < left.universe() ? &graph.nodes[n] : nullptr;
  }
  const Node& take_first() {
    const std::size_t n = left.next();
    left.erase(n);
    return graph.nodes[n];
  }
  /// From outside: nothing that the region computes itself.
  [[nodiscard]] bool is_given(ValueId id) const {
    return constant_of(graph, id) != nullptr || std::ranges::find(region.inputs, id) != region.inputs.end();
  }
};

Done check_types(const Graph& graph, const Region& region) {
  const auto check = [&](ValueId id) -> Done {
    const ValueType& type = graph.value(id).type;
    if (!type.is_static()) return refuse(RefusalReason::kShape, "no static shape: " + to_string(type));
    if (type.element != ElementType::kFloat32) return refuse(RefusalReason::kType, to_string(type));
    return {};
  };
  for (const std::vector<ValueId>* list : {&region.inputs, &region.constants, &region.outputs})
    for (const ValueId id : *list)
      if (auto ok = check(id); !ok) return ok;
  for (const std::size_t n : region.nodes.members())
    for (const ValueId id : graph.nodes[n].outputs)
      if (id.valid())
        if (auto ok = check(id); !ok) return ok;
  return {};
}

/// The order of a Transpose's axes; the reverse when it says none.
List order_of(const Graph& graph, const Node& node) {
  List reversed(extents_of(graph, node.inputs[0]).size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return attribute_or<List>(node, "perm", reversed);
}

List swap_last(std::size_t rank) {
  List order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

/// Transposes in front are folded into the steps in which a factor is read.
Done fold_transposes(Reader& reader, std::map<ValueId, Factor>& folded) {
  while (reader.first() != nullptr && is_op(*reader.first(), "Transpose")) {
    const Node& node = reader.take_first();
    if (!reader.is_given(node.inputs[0])) return refuse(RefusalReason::kStructure, "a Transpose of a Transpose");
    folded[node.outputs[0]] = {.value = node.inputs[0], .order = order_of(reader.graph, node)};
  }
  return {};
}

/// A factor read through a folded Transpose, `order` being how the head itself looks at it.
Factor factor_of(ValueId value, const List& order, std::map<ValueId, Factor>& folded, std::vector<ValueId>& used) {
  const auto found = folded.find(value);
  if (found == folded.end()) return {.value = value, .order = order};
  used.push_back(value);
  Factor factor = found->second;
  if (order.empty()) return factor;
  List both;
  for (const std::int64_t axis : order) both.push_back(factor.order[static_cast<std::size_t>(axis)]);
  return {.value = factor.value, .order = both};
}

Done read_fused_matmul(const Graph& graph, const Node& node, Analysis& analysis, List& order_a, List& order_b) {
  if (attribute_or<std::int64_t>(node, "transBatchA", 0) != 0 ||
      attribute_or<std::int64_t>(node, "transBatchB", 0) != 0)
    return refuse(RefusalReason::kAttribute, "transposed batches");
  const auto turn = [&](const char* name, std::size_t port, List& order) -> Done {
    if (attribute_or<std::int64_t>(node, name, 0) == 0) return {};
    const std::size_t rank = extents_of(graph, node.inputs[port]).size();
    if (rank < 2) return refuse(RefusalReason::kShape, "a transposed vector");
    order = swap_last(rank);
    return {};
  };
  if (auto ok = turn("transA", 0, order_a); !ok) return ok;
  if (auto ok = turn("transB", 1, order_b); !ok) return ok;
  analysis.alpha = attribute_or<float>(node, "alpha", 1.F);
  return {};
}

void read_gemm(const Node& node, Analysis& analysis, List& order_a, List& order_b) {
  analysis.head = Head::kGemm;
  if (attribute_or<std::int64_t>(node, "transA", 0) != 0) order_a = {1, 0};
  if (attribute_or<std::int64_t>(node, "transB", 0) != 0) order_b = {1, 0};
  analysis.alpha = attribute_or<float>(node, "alpha", 1.F);
  const auto beta = attribute_or<float>(node, "beta", 1.F);
  if (input_of(node, 2).valid() && beta != 0.F) analysis.terms.push_back({.value = node.inputs[2], .scale = beta});
}

Done read_convolution(const Graph& graph, const Node& node, Analysis& analysis) {
  analysis.head = Head::kConvolution;
  const Extents in = extents_of(graph, node.inputs[0]);
  const Extents out = extents_of(graph, node.outputs[0]);
  const Extents weights = extents_of(graph, node.inputs[1]);
  if (in.size() < 3 || weights.size() != in.size()) return refuse(RefusalReason::kShape, "no spatial axis");
  const auto is_one = [](std::int64_t number) { return number == 1; };
  if (!std::all_of(weights.begin() + 2, weights.end(), is_one))
    return refuse(RefusalReason::kShape, "a window of several pixels");
  if (attribute_or<std::int64_t>(node, "group", 1) != 1) return refuse(RefusalReason::kAttribute, "groups");
  // Equal extents leave no room for padding that does not cancel out a stride, so each is asked.
  const List ones(in.size() - 2, 1);
  const List pads = attribute_or<List>(node, "pads", List{});
  if (attribute_or<List>(node, "strides", ones) != ones) return refuse(RefusalReason::kAttribute, "strides");
  const bool is_padded = std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; });
  const bool is_same_size = std::equal(in.begin() + 2, in.end(), out.begin() + 2, out.end());
  if (is_padded || !is_same_size) return refuse(RefusalReason::kAttribute, "padding");
  if (const ValueId bias = input_of(node, 2); bias.valid())
    analysis.terms.push_back({.value = bias, .scale = 1.F, .is_per_channel = true});
  return {};
}

Done read_head(Reader& reader, std::map<ValueId, Factor>& folded) {
  const Node& node = reader.take_first();
  Analysis& analysis = reader.analysis;
  List order_a, order_b;
  Done done;
  if (is_op(node, "Conv"))
    done = read_convolution(reader.graph, node, analysis);
  else if (is_fused_matmul(node))
    done = read_fused_matmul(reader.graph, node, analysis, order_a, order_b);
  else if (is_op(node, "Gemm"))
    read_gemm(node, analysis, order_a, order_b);
  else if (!is_op(node, "MatMul"))
    return refuse(RefusalReason::kStructure, node.op_type + " before the product");
  if (!done) return done;
  std::vector<ValueId> used;
  analysis.a = factor_of(node.inputs[0], order_a, folded, used);
  analysis.b = factor_of(node.inputs[1], order_b, folded, used);
  if (analysis.head == Head::kConvolution && !used.empty())
    return refuse(RefusalReason::kStructure, "a Transpose before a convolution");
  for (const auto& [value, factor] : folded)
    if (std::ranges::find(used, value) == used.end())
      return refuse(RefusalReason::kStructure, "a Transpose that no factor reads");
  for (const Term& term : analysis.terms)
    if (!reader.is_given(term.value)) return refuse(RefusalReason::kStructure, "a transposed addend");
  reader.running = analysis.product = node.outputs[0];
  return {};
}

/// The operand beside the running value of a binary node; invalid when there is none from outside.
ValueId operand_of(const Reader& reader, const Node& node) {
  const ValueId other = node.inputs[0] == reader.running ? node.inputs[1] : node.inputs[0];
  return other != reader.running && reader.is_given(other) ? other : ValueId{};
}

/// Mul and Div by one number, which go into alpha.
Done read_scale(Reader& reader, const Node& node) {
  Analysis& analysis = reader.analysis;
  if (!analysis.terms.empty() || analysis.relu) return refuse(RefusalReason::kStructure, node.op_type + " of a sum");
  const ValueId operand = operand_of(reader, node);
  const Tensor* number = constant_of(reader.graph, operand);
  if (number == nullptr || number->size() != 1)
    return refuse(RefusalReason::kStructure, node.op_type + " by more than a constant number");
  const float factor = number->data.as<float>()[0];
  const bool divides = node.op_type == "Div";
  if (divides && node.inputs[0] != reader.running) return refuse(RefusalReason::kStructure, "Div by the product");
  analysis.alpha = divides ? analysis.alpha / factor : analysis.alpha * factor;
  return {};
}

Done read_add(Reader& reader, const Node& node) {
  const ValueId operand = operand_of(reader, node);
  if (!operand.valid()) return refuse(RefusalReason::kStructure, "Add of the product to itself");
  if (reader.analysis.relu) return refuse(RefusalReason::kStructure, "Add after Relu");
  reader.analysis.terms.push_back({.value = operand});
  return {};
}

Done read_step(Reader& reader, const Node& node) {
  Analysis& analysis = reader.analysis;
  if (std::ranges::find(node.inputs, reader.running) == node.inputs.end())
    return refuse(RefusalReason::kStructure, node.op_type + " beside the product");
  if (!analysis.out_order.empty()) return refuse(RefusalReason::kStructure, node.op_type + " after Transpose");
  if (is_op(node, "Transpose")) {
    if (analysis.head == Head::kConvolution) return refuse(RefusalReason::kStructure, "Transpose after Conv");
    analysis.out_order = order_of(reader.graph, node);
    return {};
  }
  if (extents_of(reader.graph, node.outputs[0]) != extents_of(reader.graph, reader.running))
    return refuse(RefusalReason::kShape, node.op_type + " to a larger shape");
  if (is_op(node, "Add")) return read_add(reader, node);
  if (is_op(node, "Mul") || is_op(node, "Div")) return read_scale(reader, node);
  analysis.relu = true;
  return {};
}

}  // namespace

std::expected<Analysis, Refusal> analyse(const Graph& graph, const Region& region) {
  const std::vector<std::size_t> nodes = region.nodes.members();
  std::size_t heads = 0;
  for (const std::size_t n : nodes) {
    const Node& node = graph.nodes[n];
    if (!is_head(node) && !is_around(node)) return refuse(RefusalReason::kOperator, node.op_type);
    heads += is_head(node) ? 1 : 0;
  }
  if (heads == 0) return refuse(RefusalReason::kOperator, nodes.empty() ? "" : graph.nodes[nodes[0]].op_type);
  if (heads > 1) return refuse(RefusalReason::kStructure, "several products");
  if (auto ok = check_types(graph, region); !ok) return std::unexpected(ok.error());
  Reader reader{.graph = graph, .region = region, .left = region.nodes, .analysis = {}, .running = {}};
  std::map<ValueId, Factor> folded;
  if (auto ok = fold_transposes(reader, folded); !ok) return std::unexpected(ok.error());
  if (auto ok = read_head(reader, folded); !ok) return std::unexpected(ok.error());
  while (reader.first() != nullptr) {
    const Node& node = reader.take_first();
    if (auto ok = read_step(reader, node); !ok) return std::unexpected(ok.error());
    reader.running = node.outputs[0];
  }
  if (!std::isfinite(reader.analysis.alpha)) return refuse(RefusalReason::kAttribute, "a factor that is not finite");
  if (region.outputs != std::vector<ValueId>{reader.running})
    return refuse(RefusalReason::kStructure, "an inner value that is read outside");
  return reader.analysis;
}

}  // namespace collage::blas
