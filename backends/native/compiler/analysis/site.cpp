#include "compiler/analysis/site.h"

#include <algorithm>

#include "backend/narrow_element.h"
#include "compiler/analysis/composite.h"
#include "compiler/analysis/space.h"
#include "compiler/expressions/expression.h"
#include "compiler/expressions/move.h"

namespace collage::native {
namespace {

using Done = std::expected<void, Refusal>;

/// Halide counts elements in 32 bits.
constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - 1;
constexpr std::size_t kMostRank = 6;
constexpr std::size_t kMostAnchors = 3;

Done check_value(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  if (!type.is_static()) return refuse(RefusalReason::kShape, "no static shape: " + to_string(type));
  if (!is_computable(type.element)) return refuse(RefusalReason::kType, to_string(type));
  const Extents extents = type.extents();
  if (extents.size() > kMostRank) return refuse(RefusalReason::kShape, "rank above 6");
  const std::int64_t count = element_count(extents);
  if (count == 0) return refuse(RefusalReason::kShape, "empty: " + to_string(type));
  if (count > kMostElements) return refuse(RefusalReason::kShape, "2^31 elements and more");
  return {};
}

/// An empty constant stands for an operand that is not given: the scales of a Resize by sizes.
bool is_absent(const Graph& graph, ValueId id) {
  const Tensor* constant = constant_of(graph, id);
  return constant != nullptr && constant->size() == 0;
}

/// Scales of channels are read along their own axis: they are an input or a constant.
Done check_scales(const Graph& graph, const Region& region, const Node& node) {
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (!operand_axis(graph, node, i)) continue;
    for (const std::size_t n : region.nodes.members())
      if (std::ranges::find(graph.nodes[n].outputs, node.inputs[i]) != graph.nodes[n].outputs.end())
        return refuse(RefusalReason::kStructure, "scales of channels that are computed beside their use");
  }
  return {};
}

Done check_values(const Graph& graph, const Region& region) {
  for (const std::size_t n : region.nodes.members())
    for (const auto* list : {&graph.nodes[n].inputs, &graph.nodes[n].outputs})
      for (const ValueId id : *list)
        if (id.valid() && !is_absent(graph, id))
          if (auto ok = check_value(graph, id); !ok) return ok;
  return {};
}

/// Nodes of the region that `node` waits for.
void add_makers(const Graph& graph, const NodeSet& nodes, const Node& node, NodeSet& makers) {
  for (const std::size_t n : nodes.members()) {
    if (makers.contains(n) || !graph.nodes[n].outputs[0].valid()) continue;
    if (std::ranges::find(node.inputs, graph.nodes[n].outputs[0]) == node.inputs.end()) continue;
    makers.insert(n);
    add_makers(graph, nodes, graph.nodes[n], makers);
  }
}

}  // namespace

std::expected<Site, Refusal> dissect(const Graph& graph, const Region& region, const CompileOptions& options,
                                     const InstructionSet& set) {
  if (region.nodes.empty() || region.outputs.empty()) return refuse(RefusalReason::kStructure, "nothing to compute");
  if (auto ok = check_values(graph, region); !ok) return std::unexpected(ok.error());
  Site site{.graph = graph, .region = region, .options = options, .set = set};
  site.before = NodeSet(graph.nodes.size());
  site.after = NodeSet(graph.nodes.size());
  NodeSet core(graph.nodes.size());
  if (auto composite = composite_of(graph, region)) {
    site.composite = std::make_shared<const Composite>(*std::move(composite));
    site.anchor = &site.composite->node;
    site.anchors = {site.anchor};
    core = site.composite->nodes;
  }
  for (const std::size_t n : region.nodes.members()) {
    const Node& node = graph.nodes[n];
    if (is_element_node(graph, node)) {
      if (auto ok = check_scales(graph, region, node); !ok) return std::unexpected(ok.error());
      continue;
    }
    if (core.contains(n)) continue;
    if (is_move_node(graph, node)) {
      site.moves = true;
      continue;
    }
    // What several nodes spell is no link of a chain.
    if (site.composite != nullptr || site.anchors.size() == kMostAnchors)
      return refuse(RefusalReason::kStructure, site.anchor->op_type + " and " + node.op_type);
    site.anchors.push_back(&node);
    site.anchor = &node;
  }
  if (site.anchor != nullptr) site.before = makers_of(site, *site.anchor);
  for (const std::size_t n : region.nodes.members())
    if (&graph.nodes[n] != site.anchor && !core.contains(n) && !site.before.contains(n)) site.after.insert(n);
  for (const std::size_t n : site.after.members())
    if (site.anchor != nullptr && is_move_node(graph, graph.nodes[n]))
      return refuse(RefusalReason::kStructure, "moves of elements beside " + site.anchor->op_type);
  return site;
}

std::optional<ElementType> narrow_element_of(const Site& site) {
  return site.is_open ? std::nullopt : narrow_element(site.options);
}

NodeSet makers_of(const Site& site, const Node& node) {
  NodeSet makers(site.graph.nodes.size());
  add_makers(site.graph, site.region.nodes, node, makers);
  return makers;
}

std::string anchors_text(const Site& site) {
  std::string text;
  for (const Node* anchor : site.anchors) text += (text.empty() ? "" : "+") + anchor->op_type;
  return text;
}

std::expected<void, Refusal> check_epilogue(const Site& site) {
  if (site.region.outputs.size() != 1) return refuse(RefusalReason::kStructure, "more than one output");
  const Extents result = site.extents(site.result());
  for (const std::size_t n : site.after.members()) {
    const Node& node = site.graph.nodes[n];
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i].valid() && !broadcasts_to(operand_extents(site.graph, node, i), result))
        return refuse(RefusalReason::kShape, "an epilogue of another shape");
  }
  if (site.extents(site.region.outputs[0]) != result)
    return refuse(RefusalReason::kShape, "an epilogue of another shape");
  return {};
}

bool are_seen(const Site& site, const NodeSet& nodes, const Space& space, const Format& format) {
  for (const std::size_t n : nodes.members())
    for (std::size_t i = 0; i < site.graph.nodes[n].inputs.size(); ++i) {
      const ValueId id = site.graph.nodes[n].inputs[i];
      if (!id.valid()) continue;
      const bool is_constant = constant_of(site.graph, id) != nullptr;
      const bool follows = !is_constant && format.is_channels_last() && can_be_channels_last(site.type(id));
      const Extents extents = operand_extents(site.graph, site.graph.nodes[n], i);
      if (!view_of(extents, follows ? format : plain(), space)) return false;
    }
  return true;
}

std::expected<void, Refusal> check_no_prologue(const Site& site) {
  if (!site.before.empty()) return refuse(RefusalReason::kStructure, "work before " + site.anchor->op_type);
  return {};
}

}  // namespace collage::native
