#include "compiler/analysis/chain.h"

#include <algorithm>

#include "compiler/expressions/quantise.h"

namespace collage::native {
namespace {

using Done = std::expected<void, Refusal>;

std::unexpected<Refusal> no_chain() { return refuse(RefusalReason::kStructure, "anchors that are no chain"); }

/// The node of the region that makes a value; nothing for inputs and constants.
std::optional<std::size_t> maker_of(const Site& site, ValueId id) {
  for (const std::size_t n : site.region.nodes.members())
    if (std::ranges::find(site.graph.nodes[n].outputs, id) != site.graph.nodes[n].outputs.end()) return n;
  return std::nullopt;
}

Done check_stage(const Site& site, const Stage& stage) {
  const Extents shape = site.extents(stage.anchor->outputs[0]);
  const auto is_of_stage = [&](ValueId id) {
    const auto maker = maker_of(site, id);
    return !maker || stage.nodes.contains(*maker) || &site.graph.nodes[*maker] == stage.anchor;
  };
  for (std::size_t i = 1; i < stage.anchor->inputs.size(); ++i)
    if (stage.anchor->inputs[i].valid() && maker_of(site, stage.anchor->inputs[i])) return no_chain();
  for (const std::size_t n : stage.nodes.members())
    for (std::size_t i = 0; i < site.graph.nodes[n].inputs.size(); ++i) {
      const ValueId id = site.graph.nodes[n].inputs[i];
      if (!id.valid()) continue;
      if (!is_of_stage(id)) return no_chain();
      if (!broadcasts_to(operand_extents(site.graph, site.graph.nodes[n], i), shape))
        return refuse(RefusalReason::kShape, "work of another shape");
    }
  if (!maker_of(site, stage.result) || !is_of_stage(stage.result) || site.extents(stage.result) != shape)
    return no_chain();
  return {};
}

}  // namespace

std::expected<std::vector<Stage>, Refusal> stages_of(const Site& site) {
  if (site.region.outputs.size() != 1) return refuse(RefusalReason::kStructure, "more than one output");
  std::vector<Stage> stages;
  NodeSet done(site.graph.nodes.size());
  for (const Node* anchor : site.anchors) {
    const NodeSet makers = makers_of(site, *anchor);
    if (stages.empty() && !makers.empty()) return refuse(RefusalReason::kStructure, "work before " + anchor->op_type);
    if (!stages.empty()) {
      stages.back().nodes = makers - done;
      stages.back().result = anchor->inputs[0];
    }
    done = makers;
    done.insert(static_cast<std::size_t>(anchor - site.graph.nodes.data()));
    stages.push_back({.anchor = anchor});
  }
  stages.back().nodes = site.region.nodes - done;
  stages.back().result = site.region.outputs[0];
  for (const Stage& stage : stages)
    if (auto ok = check_stage(site, stage); !ok) return std::unexpected(ok.error());
  return stages;
}

Site site_of(const Site& site, const Stage& stage) {
  Site part = site;
  part.anchor = stage.anchor;
  part.anchors = {stage.anchor};
  part.before = NodeSet(site.graph.nodes.size());
  part.after = stage.nodes;
  return part;
}

Halide::Expr result_of(const Stage& stage, Lowering& lowering, const Space& space, const Indices& at,
                       const Halide::Expr& anchor_value) {
  return Elements(lowering, space, at, {{stage.anchor->outputs[0], anchor_value}}).at(stage.result);
}

}  // namespace collage::native
