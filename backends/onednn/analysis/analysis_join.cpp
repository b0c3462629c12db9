// Analyses regions with several convolutions: a Concat along channels together with the convolutions that produce its
// parts, so that each writes directly to its place in the result (a convolution may also read the result of another one
// in the region); and convolutions in series.
#include <algorithm>

#include "analysis/heads.h"

namespace collage::onednn {
namespace {

using Done = std::expected<void, Refusal>;

/// The next convolution with its chain, taken out of `left`.
std::expected<Analysis, Refusal> read_maker(const Graph& graph, const Region& region, NodeSet& left) {
  const Node& node = graph.nodes[left.next()];
  if (!is_op(node, "Conv")) return refuse(RefusalReason::kStructure, node.op_type + " makes a part");
  Analysis maker;
  maker.node = &node;
  maker.source = node.inputs[0];
  maker.head_result = node.outputs[0];
  ConvolutionHead head;
  if (auto ok = read_convolution(graph, node, maker.source, {}, head.facts); !ok) return std::unexpected(ok.error());
  maker.head = std::move(head);
  left.erase(left.next());
  auto chain = read_chain(graph, region, maker.head_result, left);
  if (!chain) return std::unexpected(chain.error());
  maker.chain = std::move(*chain);
  return maker;
}

/// A result goes to its place, or to other convolutions of the region, not both.
Done check_readers(const Analysis& analysis, const Analysis& maker) {
  const ValueId result = maker.chain.result;
  const auto parts = std::ranges::count(analysis.node->inputs, result);
  const auto readers = std::ranges::count(analysis.makers, result, &Analysis::source);
  if ((parts == 1 && readers == 0) || (parts == 0 && readers > 0)) return {};
  return refuse(RefusalReason::kStructure, "a part that is also read elsewhere");
}

}  // namespace

std::expected<Analysis, Refusal> analyse_join(const Graph& graph, const Region& region) {
  Analysis analysis;
  ConcatHead head;
  NodeSet left = region.nodes;
  while (left.count() > 1) {
    auto maker = read_maker(graph, region, left);
    if (!maker) return std::unexpected(maker.error());
    analysis.makers.push_back(std::move(*maker));
  }
  const Node& join = graph.nodes[left.next()];
  if (!is_op(join, "Concat")) return refuse(RefusalReason::kStructure, "no Concat at the end");
  analysis.node = &join;
  analysis.source = join.inputs[0];
  analysis.head_result = analysis.chain.result = join.outputs[0];
  if (auto ok = read_concat(graph, analysis, head); !ok) return std::unexpected(ok.error());
  const Extents out = extents_of(graph, join.outputs[0]);
  if (head.axis != 1 || out[0] != 1)
    return refuse(RefusalReason::kAttribute, "only channels of one image are joined in place");
  for (const Analysis& maker : analysis.makers)
    if (auto ok = check_readers(analysis, maker); !ok) return std::unexpected(ok.error());
  analysis.head = head;
  return analysis;
}

std::expected<Analysis, Refusal> analyse_series(const Graph& graph, const Region& region) {
  Analysis analysis;
  analysis.head = SeriesHead{};
  NodeSet left = region.nodes;
  while (!left.empty()) {
    auto maker = read_maker(graph, region, left);
    if (!maker) return std::unexpected(maker.error());
    if (!analysis.makers.empty() && maker->source != analysis.makers.back().chain.result)
      return refuse(RefusalReason::kStructure, "convolutions that are not in series");
    analysis.makers.push_back(std::move(*maker));
  }
  analysis.node = analysis.makers[0].node;
  analysis.source = analysis.makers[0].source;
  analysis.head_result = analysis.makers[0].head_result;
  analysis.chain = analysis.makers.back().chain;
  if (analysis.chain.result != region.outputs[0])
    return refuse(RefusalReason::kStructure, "an inner value is needed outside");
  return analysis;
}

}  // namespace collage::onednn
