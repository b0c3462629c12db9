// An implementation from outside of the tree: element-wise work with the innermost loop unrolled, a choice for tuners.
// Built against the headers of backends/native and src, libHalide and libcollage_native_compiler; see README.md.
#include <algorithm>

#include "compiler/codegen/loops.h"
#include "compiler/selection/strategy_module.h"

namespace {

using namespace collage;
using namespace collage::native;

/// One loop for each axis of the result.
Space space_of(const Extents& result) {
  Space space{.result = result, .axes = {}};
  for (std::size_t axis = 0; axis < result.size(); ++axis) space.axes.push_back({axis});
  if (space.axes.empty()) space.axes.emplace_back();
  return space;
}

std::vector<Schedule> schedules(const Site&, const Facts&) { return {{{"unroll", 4}}, {{"unroll", 1}}}; }

void build(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const ValueId output = site.region.outputs[0];
  const Space space = space_of(site.extents(output));
  const std::vector<Halide::Var> loops = loop_variables(space.rank());
  Elements elements(lowering, space, as_indices(loops));
  Halide::Func out("out");
  out(innermost_first(loops)) = stored(elements.at(output), lowering.element_of(output));
  bound_all(out, loops, space.extents());
  const std::int64_t vector = std::min(site.lanes(), space.extents().back());
  const std::int64_t block = std::min(vector * schedule["unroll"], space.extents().back() / vector * vector);
  const Halide::Var blocks("blocks");
  const Halide::Var within("within");
  if (vector > 1)
    out.split(loops.back(), blocks, within, to_int(block), Halide::TailStrategy::ShiftInwards)
        .vectorize(within, to_int(vector))
        .unroll(within);
  lowering.set_outputs(out, {output}, space);
}

const AddedImplementation kRows[] = {{.family = "elementwise",
                                      .implementation = {.name = "unrolled",
                                                         .condition = "outputs == 1",
                                                         .priority = 5,
                                                         .layouts = {Layout::kPlain},
                                                         .space = schedules,
                                                         .build = build,
                                                         .choices = "unroll: 1|2|4|8|16"}}};

const StrategyModule kModule = {.rows = kRows, .row_count = std::size(kRows)};

}  // namespace

extern "C" const collage::native::StrategyModule* collage_native_strategies();
extern "C" const collage::native::StrategyModule* collage_native_strategies() { return &kModule; }
