// Moves of elements with element-wise work around them: one pass that reads through index maps.
#include <algorithm>

#include "compiler/codegen/loops.h"
#include "compiler/expressions/move.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

/// A Concat whose output's axis is the innermost loop is cut where its parts meet, so that no vector spans two.
constexpr std::int64_t kMostPieces = 32;

/// The host's views cost nothing.
bool is_view(const Node& node) {
  return node.op_type == "Reshape" || node.op_type == "Flatten" || node.op_type == "Squeeze" ||
         node.op_type == "Unsqueeze" || node.op_type == "Identity";
}

std::expected<Facts, Refusal> read(const Site& site) {
  std::int64_t moves = 0;
  for (const std::size_t n : site.region.nodes.members())
    moves += is_move_node(site.graph, site.graph.nodes[n]) ? 1 : 0;
  if (moves == 0) return refuse(RefusalReason::kStructure, "no moves of elements");
  if (std::ranges::all_of(site.region.nodes.members(), [&](std::size_t n) { return is_view(site.graph.nodes[n]); }))
    return refuse(RefusalReason::kStructure, "the same bytes under another shape");
  return Facts{{"moves", moves}, {"outputs", static_cast<std::int64_t>(site.region.outputs.size())}};
}

std::vector<Schedule> space(const Site&, const Facts&) { return {Schedule{}}; }

void schedule_output(const Site& site, ValueId output, Func out, const Lowering& lowering,
                     const std::vector<Var>& axes) {
  const Extents result = site.extents(output);
  const Format format = lowering.format_of(output);
  const auto order = memory_order(result.size(), format);
  // Loops of one place are left where they are: the others decide.
  std::vector<Var> loops;
  Extents extents;
  for (const std::size_t axis : order) {
    if (result[axis] == 1 && axis != order.back()) continue;
    loops.push_back(axes[axis]);
    extents.push_back(result[axis]);
  }
  std::vector<Var> inner_first;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) inner_first.push_back(axes[*axis]);
  out.reorder({inner_first.begin(), inner_first.end()});
  const std::int64_t bytes = 2 * bits_of(lowering.element_of(output)) / 8;
  const std::int64_t common = common_part(site, output, order.back());
  const std::int64_t innermost = extents.back();
  if (common > 0 && common < innermost && innermost / common <= kMostPieces) {
    const Var piece("piece");
    const Var within("within");
    out.split(loops.back(), piece, within, to_int(common)).unroll(piece);
    loops.back() = within;
    extents.back() = common;
  }
  schedule_flat(out, loops, extents, bytes, site);
}

void build(const Site& site, const Facts&, const Schedule&, Lowering& lowering) {
  Places places(lowering);
  for (std::size_t i = 0; i < site.region.outputs.size(); ++i) {
    const ValueId output = site.region.outputs[i];
    const Extents result = site.extents(output);
    Space space{.result = result, .axes = {}};
    for (std::size_t axis = 0; axis < result.size(); ++axis) space.axes.push_back({axis});
    if (space.axes.empty()) space.axes.emplace_back();
    const std::vector<Var> axes = loop_variables(space.rank());
    Indices at = as_indices(axes);
    at.resize(result.size());
    Func out("out" + std::to_string(i));
    const Expr value = Halide::Internal::common_subexpression_elimination(places.value(output, at));
    out(innermost_first(axes)) = stored(value, lowering.element_of(output));
    bound_all(out, axes, space.extents());
    if (!result.empty()) schedule_output(site, output, out, lowering, axes);
    lowering.set_outputs(out, {output}, space);
  }
}

const std::array<Implementation, 1> kImplementations = {{{.name = "gathered",
                                                          .condition = "",
                                                          .priority = 10,
                                                          .layouts = {Layout::kPlain, Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build}}};

}  // namespace

const Family kMovementFamily = {
    .name = "movement", .operators = "", .read = read, .implementations = kImplementations, .known = move_operators};

}  // namespace collage::native
