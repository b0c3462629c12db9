#include "region/parallel.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collage {
namespace {

/// What products must have in common to run side by side; empty for nodes that are no products with weights.
std::string kind_of(const Graph& graph, const Node& node) {
  const Tensor* weights = constant_of(graph, input_of(node, 1));
  if (weights == nullptr) return {};
  if (is_op(node, "MatMul") && weights->extents.size() == 2) return "MatMul";
  if (is_op(node, "Gemm")) return fmt::format("Gemm {}", attribute_or<std::int64_t>(node, "transA", 0));
  if (!is_op(node, "Conv") || attribute_or<std::int64_t>(node, "group", 1) != 1) return {};
  const bool is_pointwise = std::all_of(weights->extents.begin() + 2, weights->extents.end(),
                                        [](std::int64_t extent) { return extent == 1; });
  if (weights->extents.size() < 3 || !is_pointwise) return {};
  const auto* strides = find_attribute<std::vector<std::int64_t>>(node, "strides");
  return fmt::format("Conv {}", strides == nullptr ? "" : fmt::format("{}", fmt::join(*strides, "x")));
}

}  // namespace

std::vector<Proposal> parallel_products(const Graph& graph, const Uses& uses, const std::vector<Proposal>& singles) {
  std::map<std::pair<ValueId, std::string>, Proposal> groups;
  for (const Proposal& single : singles) {
    const std::size_t n = single.nodes.next();
    if (single.nodes.count() != 1) continue;
    const Node& node = graph.nodes[n];
    const std::string kind = kind_of(graph, node);
    const ValueId data = input_of(node, 0);
    if (kind.empty() || !data.valid() || uses.consumers[data.index].size() < 2) continue;
    auto& group = groups.try_emplace({data, kind}, Proposal{.nodes = NodeSet(graph.nodes.size()), .origin = "parallel"})
                      .first->second;
    if (group.nodes.contains(n)) continue;
    group.nodes.insert(n);
    group.matches.insert(group.matches.end(), single.matches.begin(), single.matches.end());
  }
  std::vector<Proposal> proposals;
  for (auto& [key, group] : groups)
    if (group.nodes.count() > 1) proposals.push_back(std::move(group));
  return proposals;
}

}  // namespace collage
