// DynamicQuantizeLinear: the bytes of a tensor, and the scale and zero point that its least and largest number ask for.
#include <algorithm>

#include "compiler/codegen/loops.h"
#include "compiler/expressions/quantise.h"
#include "compiler/expressions/row_reduction.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

constexpr float kSteps = 255.F;

std::expected<Facts, Refusal> read(const Site& site) {
  if (!site.before.empty() || !site.after.empty())
    return refuse(RefusalReason::kStructure, "work beside DynamicQuantizeLinear");
  const ValueId source = site.anchor->inputs[0];
  if (site.type(source).element != ElementType::kFloat32) return refuse(RefusalReason::kType, "not f32");
  return Facts{{"elements", element_count(site.extents(source))}};
}

std::vector<Schedule> space(const Site&, const Facts&) { return {Schedule{}}; }

void build(const Site& site, const Facts&, const Schedule&, Lowering& lowering) {
  const Node& node = *site.anchor;
  const Extents extents = site.extents(node.inputs[0]);
  const Format format = lowering.format_of(node.inputs[0]);
  // Whatever the order in memory, elements lie one after the other.
  const Space elements{.result = extents, .axes = {memory_order(extents.size(), format)}};
  const View view = *view_of(extents, format, elements);
  const std::int64_t count = elements.extent(0);
  const Readable source = lowering.read(node.inputs[0], view);
  const auto extreme = [&](const std::string& name, Join join) {
    RowReduction row =
        joined_row(name, join, count, site.lanes(), {}, [&](const Expr& along) { return source({along}); });
    row.part.compute_root();
    row.total.compute_root();
    vectorise(row, site.lanes());
    return Expr(row.total());
  };
  // Zero is always among the numbers.
  const Expr least = Halide::min(extreme("least", Join::kMin), 0.F);
  const Expr most = Halide::max(extreme("most", Join::kMax), 0.F);
  Func scale("scale");
  scale() = Halide::select(most == least, 1.F, exact_quotient(most - least, kSteps));
  Func zero_point("zero_point");
  zero_point() = rounded_to(exact_quotient(-least, scale()), Expr(), ElementType::kUint8);
  Func bytes("bytes");
  const Var loop("loop");
  bytes(loop) = quantised(source({loop}), scale(), zero_point(), ElementType::kUint8, Quotient::kExact);
  scale.compute_root();
  zero_point.compute_root();
  bound_all(bytes, {loop}, {count});
  schedule_flat(bytes, {loop}, {count}, 5, site);

  const auto give = [&](const Func& func, std::size_t output, const View& seen) {
    if (output < node.outputs.size() && std::ranges::count(site.region.outputs, node.outputs[output]) > 0)
      lowering.set_output(func, node.outputs[output], seen);
  };
  give(bytes, 0, view);
  give(scale, 1, {});
  give(zero_point, 2, {});
}

const std::array<Implementation, 1> kImplementations = {{{.name = "dynamic",
                                                          .condition = "",
                                                          .priority = 10,
                                                          .layouts = {Layout::kPlain, Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build,
                                                          .narrow = NarrowUse::kRefused}}};

}  // namespace

const Family kDynamicQuantiserFamily = {.name = "dynamic_quantiser",
                                        .operators = "DynamicQuantizeLinear",
                                        .read = read,
                                        .implementations = kImplementations};

}  // namespace collage::native
