// Element-wise work alone: any number of operators and outputs in one pass over memory.
#include <set>

#include "compiler/codegen/loops.h"
#include "compiler/expressions/expression.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;

bool fits(const Site& site, const Node& node, const Extents& result) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid() && !broadcasts_to(operand_extents(site.graph, node, i), result)) return false;
  return broadcasts_to(site.extents(node.outputs[0]), result);
}

std::expected<Facts, Refusal> read(const Site& site) {
  if (site.moves) return refuse(RefusalReason::kOperator, "moves of elements");
  const Extents result = site.extents(site.region.outputs[0]);
  for (const ValueId id : site.region.outputs)
    if (site.extents(id) != result) return refuse(RefusalReason::kShape, "outputs of several shapes");
  for (const std::size_t n : site.region.nodes.members())
    if (!fits(site, site.graph.nodes[n], result))
      return refuse(RefusalReason::kShape, "a value larger than the output");
  return Facts{{"elements", element_count(result)}, {"outputs", static_cast<std::int64_t>(site.region.outputs.size())}};
}

std::vector<Schedule> space(const Site&, const Facts&) { return {Schedule{}}; }

/// All tensors in memory: their layouts decide which axes are one loop.
std::vector<Shaped> tensors_of(const Site& site, const Lowering& lowering) {
  std::vector<Shaped> tensors;
  std::set<ValueId> inside;
  for (const ValueId id : site.region.outputs) tensors.push_back({site.extents(id), lowering.format_of(id)});
  for (const std::size_t n : site.region.nodes.members()) inside.insert(site.graph.nodes[n].outputs[0]);
  for (const std::size_t n : site.region.nodes.members()) {
    const Node& node = site.graph.nodes[n];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid()) continue;
      Extents extents = operand_extents(site.graph, node, i);
      // What stays inside has no memory, but broadcasts all the same.
      if (inside.contains(node.inputs[i]) && extents == site.extents(site.region.outputs[0])) continue;
      tensors.push_back({std::move(extents), lowering.format_of(node.inputs[i])});
    }
  }
  return tensors;
}

void build(const Site& site, const Facts&, const Schedule&, Lowering& lowering) {
  const std::vector<ValueId>& outputs = site.region.outputs;
  const Space space =
      collapsed_space(site.extents(outputs[0]), lowering.format_of(outputs[0]), tensors_of(site, lowering));
  const std::vector<Halide::Var> loops = loop_variables(space.rank());
  Elements elements(lowering, space, as_indices(loops));
  std::vector<Expr> values;
  std::int64_t bytes = 0;
  for (const ValueId id : outputs) {
    values.push_back(stored(elements.at(id), lowering.element_of(id)));
    bytes += 2 * bits_of(lowering.element_of(id)) / 8;
  }
  Func out("out");
  out(innermost_first(loops)) = Halide::Tuple(values);
  const Extents extents = space.extents();
  bound_output(out, loops, space, lowering);
  const auto tail = lowering.tail(space, space.rank() - 1, flat_step(extents, site), Halide::TailStrategy::Predicate);
  schedule_flat(out, loops, extents, bytes, site, tail);
  lowering.set_outputs(out, outputs, space);
}

const std::array<Implementation, 1> kImplementations = {{{.name = "flat",
                                                          .condition = "",
                                                          .priority = 10,
                                                          .layouts = {Layout::kPlain, Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build,
                                                          .open_layouts = {Layout::kPlain, Layout::kChannelsLast}}}};

}  // namespace

const Family kElementwiseFamily = {.name = "elementwise",
                                   .operators = "",
                                   .read = read,
                                   .implementations = kImplementations,
                                   .known = element_operators};

}  // namespace collage::native
