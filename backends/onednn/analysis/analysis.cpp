#include "analysis/analysis.h"

#include <algorithm>

#include "analysis/heads.h"

namespace collage::onednn {
namespace {

using Done = std::expected<void, Refusal>;

/// One reading of a region: what is analysed so far and which nodes are left.
struct Reader {
  const Graph& graph;
  const Region& region;
  NodeSet left;
  Analysis analysis = {};

  [[nodiscard]] const Node* first() const {
    const std::size_t n = left.next();
    return n < left.universe() ? &graph.nodes[n] : nullptr;
  }
  const Node* take_first() {
    const std::size_t n = left.next();
    left.erase(n);
    return &graph.nodes[n];
  }
};

std::optional<Head> head_of(const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  static const std::map<std::string, Head, std::less<>> kHeads = {{"Conv", ConvolutionHead{}},
                                                                  {"ConvTranspose", DeconvolutionHead{}},
                                                                  {"MatMul", MatMulFacts{}},
                                                                  {"Gemm", MatMulFacts{}},
                                                                  {"MaxPool", PoolingFacts{}},
                                                                  {"AveragePool", PoolingFacts{}},
                                                                  {"GlobalMaxPool", PoolingFacts{}},
                                                                  {"GlobalAveragePool", PoolingFacts{}},
                                                                  {"Concat", ConcatHead{}},
                                                                  {"Resize", ResamplingHead{}},
                                                                  {"Softmax", SoftmaxHead{}},
                                                                  {"LogSoftmax", SoftmaxHead{}},
                                                                  {"LRN", LrnHead{}},
                                                                  {"LayerNormalization", LayerNormHead{}},
                                                                  {"BatchNormalization", BatchNormHead{}}};
  if (const auto found = kHeads.find(node.op_type); found != kHeads.end()) return found->second;
  if (node.op_type.starts_with("Reduce") && !node.op_type.starts_with("ReduceLog")) return ReductionHead{};
  return std::nullopt;
}

/// Static borders of one type: f32, or any that can be moved for Concat.
Done check_types(const Graph& graph, const Region& region, bool moves_only) {
  const auto check = [&](ValueId id) -> Done {
    const ValueType& type = graph.value(id).type;
    if (!type.is_static()) return refuse(RefusalReason::kShape, "no static shape: " + to_string(type));
    if (element_count(type.extents()) == 0) return refuse(RefusalReason::kShape, "empty: " + to_string(type));
    if (type.extents().size() > 6) return refuse(RefusalReason::kShape, "rank above 6");
    const bool fits = moves_only ? can_move(type.element) : type.element == ElementType::kFloat32;
    if (!fits) return refuse(RefusalReason::kType, to_string(type));
    return {};
  };
  for (const ValueId id : region.inputs)
    if (auto ok = check(id); !ok) return ok;
  for (const ValueId id : region.outputs)
    if (auto ok = check(id); !ok) return ok;
  for (std::size_t n = region.nodes.next(); n < region.nodes.universe(); n = region.nodes.next(n + 1))
    for (const ValueId id : graph.nodes[n].outputs)
      if (id.valid())
        if (auto ok = check(id); !ok) return ok;
  return {};
}

/// Zeros on spatial axes, as numbers.
std::expected<Padding, Refusal> read_pad(const Graph& graph, const Node& node) {
  const std::size_t rank = extents_of(graph, node.inputs[0]).size();
  const Tensor* pads = constant_of(graph, input_of(node, 1));
  const Tensor* value = constant_of(graph, input_of(node, 2));
  const Tensor* axes = constant_of(graph, input_of(node, 3));
  if (attribute_or<std::string>(node, "mode", "constant") != "constant")
    return refuse(RefusalReason::kAttribute, "Pad by other than zeros");
  if (input_of(node, 2).valid() && (value == nullptr || floats_of(*value) != std::vector<double>{0.0}))
    return refuse(RefusalReason::kAttribute, "Pad by other than zeros");
  if (pads == nullptr || (axes == nullptr && input_of(node, 3).valid()))
    return refuse(RefusalReason::kStructure, "Pad by computed amounts");
  const auto amounts = integers_of(*pads).value_or(std::vector<std::int64_t>{});
  std::vector<std::int64_t> which(rank);
  for (std::size_t i = 0; i < rank; ++i) which[i] = static_cast<std::int64_t>(i);
  if (axes != nullptr) which = integers_of(*axes).value_or(std::vector<std::int64_t>{});
  if (rank < 3 || amounts.size() != 2 * which.size())
    return refuse(RefusalReason::kAttribute, "pads of another length");
  Padding padding{.begin = Extents(rank - 2, 0), .end = Extents(rank - 2, 0)};
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::int64_t axis = which[i] < 0 ? which[i] + static_cast<std::int64_t>(rank) : which[i];
    const std::int64_t begin = amounts[i];
    const std::int64_t end = amounts[i + which.size()];
    if (begin < 0 || end < 0 || (axis < 2 && (begin != 0 || end != 0)))
      return refuse(RefusalReason::kAttribute, "Pad of batch or channels, or by less than nothing");
    if (axis < 2) continue;
    padding.begin[static_cast<std::size_t>(axis - 2)] = begin;
    padding.end[static_cast<std::size_t>(axis - 2)] = end;
  }
  return padding;
}

/// A Pad in front is folded into the window of the node that follows.
std::expected<Padding, Refusal> take_padding(Reader& reader, ValueId& padded) {
  if (!is_op(*reader.first(), "Pad")) return Padding{};
  const Node& pad = *reader.take_first();
  if (reader.first() == nullptr || input_of(*reader.first(), 0) != pad.outputs[0])
    return refuse(RefusalReason::kStructure, "a Pad of its own");
  padded = pad.inputs[0];
  return read_pad(reader.graph, pad);
}

/// Transposes in front are folded into the strides in which a MatMul reads.
void take_transposes(Reader& reader, std::map<ValueId, Factor>& folded) {
  while (reader.first() != nullptr && is_op(*reader.first(), "Transpose")) {
    const Node& node = *reader.take_first();
    const std::size_t rank = extents_of(reader.graph, node.inputs[0]).size();
    std::vector<std::int64_t> reversed(rank);
    for (std::size_t i = 0; i < rank; ++i) reversed[i] = static_cast<std::int64_t>(rank - 1 - i);
    folded[node.outputs[0]] = {.value = node.inputs[0],
                               .order = attribute_or<std::vector<std::int64_t>>(node, "perm", reversed)};
  }
}

Done read_matmul_region(Reader& reader, std::map<ValueId, Factor>& folded) {
  Analysis& analysis = reader.analysis;
  auto& facts = std::get<MatMulFacts>(analysis.head);
  if (auto ok = read_matmul(reader.graph, analysis, facts); !ok) return ok;
  for (Factor* factor : {&facts.a, &facts.b}) {
    const auto found = folded.find(factor->value);
    if (found == folded.end()) continue;
    if (!factor->order.empty()) return refuse(RefusalReason::kStructure, "a Transpose before a transposed factor");
    *factor = found->second;
    folded.erase(found);
  }
  if (!folded.empty()) return refuse(RefusalReason::kStructure, "a Transpose that no factor reads");
  return {};
}

/// A Transpose at the end is folded into the strides in which the product is written.
Done take_last_transpose(Reader& reader) {
  const Node* node = reader.first();
  Analysis& analysis = reader.analysis;
  if (node == nullptr || !is_op(*node, "Transpose") || node->inputs[0] != analysis.chain.result) return {};
  const auto* order = find_attribute<std::vector<std::int64_t>>(*node, "perm");
  if (analysis.node->op_type != "MatMul" || order == nullptr)
    return refuse(RefusalReason::kStructure, "a Transpose after Gemm");
  std::get<MatMulFacts>(analysis.head).out_order = *order;
  analysis.chain.result = node->outputs[0];
  reader.take_first();
  return {};
}

/// Reads the head's node into the head, by its kind. A product is read with the Transposes around it.
struct HeadReader {
  const Graph& graph;
  const Padding& padding;
  Analysis& analysis;

  Done operator()(ConvolutionHead& head) const {
    return read_convolution(graph, *analysis.node, analysis.source, padding, head.facts);
  }
  Done operator()(DeconvolutionHead& head) const { return read_deconvolution(graph, analysis, head.facts); }
  Done operator()(PoolingFacts& head) const { return read_pooling(graph, padding, analysis, head); }
  Done operator()(ConcatHead& head) const { return read_concat(graph, analysis, head); }
  Done operator()(ResamplingHead& head) const { return read_resize(graph, analysis, head); }
  Done operator()(SoftmaxHead& head) const { return read_softmax(graph, analysis, head); }
  Done operator()(LayerNormHead&) const { return read_layer_norm(graph, analysis); }
  Done operator()(BatchNormHead&) const { return read_batch_norm(graph, analysis); }
  Done operator()(ReductionHead&) const { return read_reduction(graph, analysis); }
  Done operator()(LrnHead&) const { return read_lrn(graph, analysis); }
  Done operator()(MatMulFacts&) const { return {}; }
  Done operator()(SeriesHead&) const { return {}; }
  Done operator()(ElementwiseHead&) const { return {}; }
};

/// Post-ops are for heads whose primitives have them.
bool takes_chain(const Analysis& analysis) {
  return !analysis.is<ConcatHead>() && !analysis.is<SoftmaxHead>() && !analysis.is<LayerNormHead>() &&
         !analysis.is<LrnHead>();
}

Done read_chain_into(Reader& reader, ValueId start, Chain& into) {
  auto chain = read_chain(reader.graph, reader.region, start, reader.left);
  if (!chain) return std::unexpected(chain.error());
  into = std::move(*chain);
  return {};
}

/// A depthwise convolution after the first one and its chain, with a chain of its own.
Done read_second_convolution(Reader& reader) {
  Analysis& analysis = reader.analysis;
  const Node* node = reader.first();
  auto* const first = std::get_if<ConvolutionHead>(&analysis.head);
  if (first == nullptr || node == nullptr || !is_op(*node, "Conv")) return {};
  if (input_of(*node, 0) != analysis.chain.result) return refuse(RefusalReason::kStructure, "two convolutions apart");
  ConvolutionFacts facts;
  if (auto ok = read_convolution(reader.graph, *node, analysis.chain.result, {}, facts); !ok) return ok;
  if (!facts.is_depthwise()) return refuse(RefusalReason::kStructure, "the second convolution is not depthwise");
  reader.take_first();
  first->second = SecondConvolution{.before = std::move(analysis.chain), .facts = facts};
  return read_chain_into(reader, node->outputs[0], analysis.chain);
}

Done read_headed(Reader& reader) {
  Analysis& analysis = reader.analysis;
  ValueId padded;
  const auto padding = take_padding(reader, padded);
  if (!padding) return std::unexpected(padding.error());
  std::map<ValueId, Factor> folded;
  take_transposes(reader, folded);
  if (reader.first() == nullptr) return refuse(RefusalReason::kOperator, "nothing to compute");
  analysis.node = reader.first();
  auto head = head_of(*analysis.node);
  if (!head) return refuse(RefusalReason::kOperator, analysis.node->op_type);
  analysis.head = *std::move(head);
  const bool is_product = analysis.is<MatMulFacts>();
  if ((padded.valid() && !analysis.is<ConvolutionHead>() && !is_op(*analysis.node, "AveragePool")) ||
      (!folded.empty() && !is_product))
    return refuse(RefusalReason::kStructure, "cannot fold into " + analysis.node->op_type);
  reader.take_first();
  analysis.source = padded.valid() ? padded : analysis.node->inputs[0];
  analysis.head_result = analysis.node->outputs[0];
  analysis.chain.result = analysis.head_result;
  if (auto ok = std::visit(HeadReader{reader.graph, *padding, analysis}, analysis.head); !ok) return ok;
  if (is_product)
    if (auto ok = read_matmul_region(reader, folded); !ok) return ok;
  if (reader.left.empty()) return {};
  if (!takes_chain(analysis)) return refuse(RefusalReason::kStructure, "nothing fuses after " + analysis.node->op_type);
  if (auto ok = read_chain_into(reader, analysis.head_result, analysis.chain); !ok) return ok;
  if (is_product) return take_last_transpose(reader);
  return read_second_convolution(reader);
}

/// A chain may start at either operand of its first node that has the full shape.
Done read_elementwise(Reader& reader) {
  const Node& first = *reader.first();
  const Extents result = extents_of(reader.graph, first.outputs[0]);
  const NodeSet all = reader.left;
  Refusal why{RefusalReason::kShape, "both operands are enlarged"};
  for (const ValueId start : first.inputs) {
    if (!start.valid() || is_constant(reader.graph, start) || extents_of(reader.graph, start) != result) continue;
    reader.left = all;
    const Done done = read_chain_into(reader, start, reader.analysis.chain);
    if (done && reader.left.empty()) {
      reader.analysis.source = reader.analysis.head_result = start;
      if (reader.analysis.chain.steps.empty()) return refuse(RefusalReason::kStructure, "nothing to compute");
      return {};
    }
    why = done ? Refusal{RefusalReason::kStructure, "no chain of operators"} : done.error();
  }
  return std::unexpected(why);
}

/// A head with what is folded into it and follows it, or a chain.
std::expected<Analysis, Refusal> analyse_chain(Reader& reader) {
  const auto done = is_step_operator(*reader.first()) ? read_elementwise(reader) : read_headed(reader);
  if (!done) return std::unexpected(done.error());
  if (!reader.left.empty()) return refuse(RefusalReason::kStructure, "no chain of operators");
  if (reader.analysis.chain.result != reader.region.outputs[0])
    return refuse(RefusalReason::kStructure, "an inner value is needed outside");
  return std::move(reader.analysis);
}

std::size_t count_of(const Graph& graph, const Region& region, std::string_view op_type) {
  return static_cast<std::size_t>(
      std::ranges::count_if(region.nodes.members(), [&](std::size_t n) { return is_op(graph.nodes[n], op_type); }));
}

}  // namespace

std::expected<Analysis, Refusal> analyse(const Graph& graph, const Region& region) {
  if (region.nodes.empty()) return refuse(RefusalReason::kStructure, "no nodes");
  if (region.outputs.size() != 1) return refuse(RefusalReason::kStructure, "more than one output");
  if (region.inputs.empty()) return refuse(RefusalReason::kStructure, "no computed input");
  if (has_bytes(graph, region)) return analyse_bytes(graph, region);
  Reader reader{.graph = graph, .region = region, .left = region.nodes};
  const bool moves_only = is_op(*reader.first(), "Concat") && region.nodes.count() == 1;
  if (auto ok = check_types(graph, region, moves_only); !ok) return std::unexpected(ok.error());
  if (region.nodes.count() > 1 && count_of(graph, region, "Concat") > 0) return analyse_join(graph, region);
  auto alone = analyse_chain(reader);
  if (count_of(graph, region, "Conv") < 2) return alone;
  auto series = analyse_series(graph, region);
  if (!series) return alone;
  if (!alone) return series;
  alone->makers = std::move(series->makers);
  return alone;
}

}  // namespace collage::onednn
