// GroupNormalization: mean and variance over neighbouring channels of one sample, then scale and bias by channel.
// How: sums are taken over the positions of each channel and then over the channels of a group. The channels of a group
//       need not be contiguous, so the same code serves both formats. In plain tensors it processes one group at a
//       time, in channels_last a run of whole groups that fills vectors.
// Source: group normalisation (Wu and He, ECCV 2018); variance in two passes.
#include <algorithm>
#include <numeric>

#include "compiler/codegen/loops.h"
#include "compiler/expressions/row_reduction.h"
#include "compiler/strategies/by_layout.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

/// Batch, channels, places, in this order whatever the format.
Space space_of(const Extents& extents) {
  Space space{.result = extents, .axes = {{0}, {1}, {}}};
  for (std::size_t i = 2; i < extents.size(); ++i) space.axes[2].push_back(i);
  return space;
}

std::expected<Facts, Refusal> read(const Site& site) {
  if (auto ok = check_no_prologue(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const Node& node = *site.anchor;
  const Extents in = site.extents(node.inputs[0]);
  const std::int64_t groups = attribute_or<std::int64_t>(node, "num_groups", 1);
  if (in.size() < 3) return refuse(RefusalReason::kShape, "rank " + std::to_string(in.size()));
  if (groups < 1 || in[1] % groups != 0) return refuse(RefusalReason::kShape, "groups of different sizes");
  for (const ValueId id : node.inputs)
    if (id.valid() && site.type(id).element != ElementType::kFloat32) return refuse(RefusalReason::kType, "not f32");
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid() && element_count(site.extents(node.inputs[i])) != in[1])
      return refuse(RefusalReason::kShape, "parameters that are not by channel");
  const Space space = space_of(in);
  const auto layouts = layouts_of_epilogue(site, space);
  if (!layouts) return std::unexpected(layouts.error());
  return Facts{{"layouts", *layouts}, {"channels", in[1]}, {"groups", groups}, {"places", space.extent(2)}};
}

/// The stages of one kernel.
struct Stages {
  Func out;
  std::vector<RowReduction> by_channel;  ///< over (channel, batch)
  std::vector<Func> by_group;            ///< over (group, batch)
  Func scale, shift;                     ///< over (channel, batch): result = x * scale + shift
  Var n, c, p;
};

/// A value by channel from parameter `i` of the node.
Expr parameter(const Site& site, Lowering& lowering, const Indices& at, std::size_t i) {
  const std::int64_t channels = element_count(site.extents(site.anchor->inputs[i]));
  return lowering.read(site.anchor->inputs[i],
                       View{.extents = {1, channels, 1}, .strides = {0, channels > 1 ? 1 : 0, 0}})(at);
}

/// Sums along the places of each channel: of vectors of places where they lie together, else of vectors of channels.
RowReduction channel_sum(const std::string& name, std::int64_t places, const Site& site, bool is_plain,
                         const std::vector<Expr>& kept, const std::function<Expr(const Expr&)>& value) {
  if (is_plain) return joined_row(name, Join::kSum, places, site.lanes(), kept, value);
  const RDom r(0, to_int(places), name + "_r");
  RowReduction sum{.total = Func(name)};
  sum.total(kept) = 0.F;
  sum.total(kept) += value(r);
  return sum;
}

Stages stages_of(const Site& site, const Facts& facts, bool is_plain, Lowering& lowering) {
  const auto fact = [&](std::string_view name) { return facts.find(name)->second; };
  const std::int64_t per_group = fact("channels") / fact("groups");
  const Space space = space_of(site.extents(site.result()));
  const Readable source = lowering.read(site.anchor->inputs[0], space);
  const std::vector<Var> loops = loop_variables(3);
  Stages stages{.n = loops[0], .c = loops[1], .p = loops[2]};
  const Var& n = stages.n;
  const Var& c = stages.c;
  const Var g("g");
  const Expr count = static_cast<float>(per_group * fact("places"));
  const auto of_group = [&](const std::string& name, const Func& by_channel) {
    const RDom r(0, to_int(per_group), name + "_r");
    Func total(name);
    total(g, n) = 0.F;
    total(g, n) += by_channel(g * to_int(per_group) + r, n);
    stages.by_group.push_back(total);
    return total;
  };
  stages.by_channel.push_back(channel_sum("sum", fact("places"), site, is_plain, {c, n}, [&](const Expr& p) {
    return source({n, c, p});
  }));
  const Func sum = of_group("group_sum", stages.by_channel[0].total);
  const Expr mean = sum(c / to_int(per_group), n) / count;
  stages.by_channel.push_back(channel_sum("squared", fact("places"), site, is_plain, {c, n}, [&](const Expr& p) {
    const Expr centred = source({n, c, p}) - mean;
    return centred * centred;
  }));
  const Func squared = of_group("group_squared", stages.by_channel[1].total);
  const Expr variance = squared(c / to_int(per_group), n) / count;
  Expr scale = 1.F / Halide::sqrt(variance + attribute_or<float>(*site.anchor, "epsilon", 1e-5F));
  if (input_of(*site.anchor, 1).valid()) scale = scale * parameter(site, lowering, as_indices(loops), 1);
  stages.scale = Func("scale");
  stages.scale(c, n) = scale;
  Expr shift = -mean * stages.scale(c, n);
  if (input_of(*site.anchor, 2).valid()) shift = shift + parameter(site, lowering, as_indices(loops), 2);
  stages.shift = Func("shift");
  stages.shift(c, n) = shift;
  stages.out =
      define_output(site, lowering, space, loops, source(as_indices(loops)) * stages.scale(c, n) + stages.shift(c, n));
  return stages;
}

std::vector<Schedule> space(const Site&, const Facts&) { return {Schedule{}}; }

void build_plain(const Site& site, const Facts& facts, const Schedule&, Lowering& lowering) {
  Stages stages = stages_of(site, facts, true, lowering);
  const std::int64_t groups = facts.find("groups")->second;
  const Extents extents = space_of(site.extents(site.result())).extents();
  const std::int64_t lanes = std::min(site.lanes(), extents[2]);
  const Var group("group");
  const Var within("within");
  stages.out.split(stages.c, group, within, to_int(extents[1] / groups), TailStrategy::RoundUp);
  if (lanes > 1) stages.out.vectorize(stages.p, to_int(lanes), TailStrategy::GuardWithIf);
  const Var outer = parallelise(stages.out, {stages.n, group}, {extents[0], groups}, site);
  for (RowReduction& one : stages.by_channel) {
    one.part.compute_at(stages.out, outer);
    one.total.compute_at(stages.out, outer);
    vectorise(one, site.lanes());
  }
  for (Func total : stages.by_group) total.compute_at(stages.out, outer);
  for (Func one : {stages.scale, stages.shift}) one.compute_at(stages.out, outer);
}

void build_nhwc(const Site& site, const Facts& facts, const Schedule&, Lowering& lowering) {
  Stages stages = stages_of(site, facts, false, lowering);
  const Extents extents = space_of(site.extents(site.result())).extents();
  const std::int64_t channels = extents[1];
  const std::int64_t per_group = channels / facts.find("groups")->second;
  const std::int64_t lanes = std::min(site.lanes(), channels);
  // Whole groups in whole vectors; all channels where there is no such run.
  std::int64_t run = std::lcm(per_group, lanes);
  if (channels % run != 0) run = channels;
  const Var block("block");
  const Var within("within");
  const Var vector("vector");
  const Var lane("lane");
  stages.out.split(stages.c, block, within, to_int(run), TailStrategy::RoundUp)
      .split(within, vector, lane, to_int(lanes), run % lanes == 0 ? TailStrategy::RoundUp : TailStrategy::Predicate)
      .reorder(lane, vector, stages.p, block, stages.n)
      .vectorize(lane);
  const Var outer = parallelise(stages.out, {stages.n, block}, {extents[0], channels / run}, site);
  for (RowReduction& one : stages.by_channel) {
    one.total.compute_at(stages.out, outer).vectorize(stages.c, to_int(lanes), TailStrategy::GuardWithIf);
    one.total.update()
        .reorder(stages.c, one.total.rvars(0)[0])
        .vectorize(stages.c, to_int(lanes), TailStrategy::GuardWithIf);
  }
  for (Func total : stages.by_group) total.compute_at(stages.out, outer);
  for (Func one : {stages.scale, stages.shift}) one.compute_at(stages.out, outer);
}

const std::array<Implementation, 2> kImplementations = {{{.name = "groups",
                                                          .condition = kHasPlain,
                                                          .priority = 10,
                                                          .layouts = {Layout::kPlain},
                                                          .space = space,
                                                          .build = build_plain},
                                                         {.name = "group_runs",
                                                          .condition = kHasChannelsLast,
                                                          .priority = 9,
                                                          .layouts = {Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build_nhwc}}};

}  // namespace

const Family kGroupNormFamily = {.name = "group_norm",
                                 .operators = "GroupNormalization",
                                 .read = read,
                                 .implementations = kImplementations,
                                 .domains = kLayoutsDomain};

}  // namespace collage::native
