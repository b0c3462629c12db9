// LRN: each number is divided by a power of the sum of squares over neighbouring channels.
// How: in plain tensors vectors run over positions, so neighbouring channels are other rows. In channels_last vectors
//       run over channels; the squares of one position are in a row with zeros at both ends.
// Source: local response normalisation (Krizhevsky et al., NIPS 2012).
#include <algorithm>
#include <bit>

#include "compiler/codegen/loops.h"
#include "compiler/strategies/by_layout.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

/// Batch, places, channels of an activation.
Space space_of(const Extents& extents) {
  Space space{.result = extents, .axes = {{0}, {}, {1}}};
  for (std::size_t i = 2; i < extents.size(); ++i) space.axes[1].push_back(i);
  return space;
}

struct Window {
  std::int64_t size, before;
  float factor, beta, bias;
  explicit Window(const Node& node)
      : size(attribute_or<std::int64_t>(node, "size", 1)),
        before((size - 1) / 2),
        factor(attribute_or<float>(node, "alpha", 1e-4F) / static_cast<float>(size)),
        beta(attribute_or<float>(node, "beta", 0.75F)),
        bias(attribute_or<float>(node, "bias", 1.F)) {}
};

std::expected<Facts, Refusal> read(const Site& site) {
  if (auto ok = check_no_prologue(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const Extents in = site.extents(site.anchor->inputs[0]);
  if (in.size() < 3) return refuse(RefusalReason::kShape, "rank " + std::to_string(in.size()));
  if (site.type(site.anchor->inputs[0]).element != ElementType::kFloat32)
    return refuse(RefusalReason::kType, "not f32");
  if (Window(*site.anchor).size < 1) return refuse(RefusalReason::kAttribute, "no window");
  const Space space = space_of(in);
  const auto layouts = layouts_of_epilogue(site, space);
  if (!layouts) return std::unexpected(layouts.error());
  return Facts{{"layouts", *layouts}, {"channels", in[1]}, {"all_channels", in[1]}, {"places", space.extent(1)}};
}

/// 1 / sqrt(x) for x > 0, as exact as single precision.
Expr inverse_root(const Expr& x) {
  const Expr guess = Halide::fast_inverse_sqrt(x);
  return guess * (1.5F - 0.5F * x * guess * guess);
}

/// x to the power -beta, for x > 0; the powers of published networks without logarithms.
Expr inverse_power(const Expr& x, float beta) {
  if (beta == 1.F) return 1.F / x;
  if (beta == 0.5F) return 1.F / Halide::sqrt(x);
  if (beta != 0.75F) return Halide::exp(Halide::log(x) * -beta);
  const Expr root = inverse_root(x);
  return root * root * inverse_root(root);
}

std::vector<Schedule> planes_space(const Site& site, const Facts& facts) {
  const std::int64_t lanes = site.lanes();
  const Space space = space_of(site.extents(site.result()));
  const std::int64_t vectors = std::clamp<std::int64_t>(space.extent(1) / lanes, 1, 2);
  // Neighbouring channels share what they read. None is computed twice: two threads would write it.
  const std::int64_t together = largest_divisor(facts.find("channels")->second, 4);
  return {{{"channels", together}, {"vectors", 1}}, {{"channels", together}, {"vectors", vectors}}};
}

void build_planes(const Site& site, const Facts& facts, const Schedule& schedule, Lowering& lowering) {
  const Window window(*site.anchor);
  const Space space = space_of(site.extents(site.result()));
  const std::int64_t channels = facts.find("channels")->second;
  const Readable source = lowering.read(site.anchor->inputs[0], space);
  const std::vector<Var> loops = loop_variables(3);
  const Var c = loops[2];
  const Var p = loops[1];
  Expr squares = 0.F;
  for (std::int64_t i = 0; i < window.size; ++i) {
    const Expr at = c + to_int(i - window.before);
    const Expr one = source({loops[0], p, clamped(at, channels)});
    const bool is_inside = i == window.before;
    squares += is_inside ? one * one : Halide::select(Halide::likely(at >= 0 && at < to_int(channels)), one * one, 0.F);
  }
  const Expr scale = inverse_power(window.bias + window.factor * squares, window.beta);
  Func out = define_output(site, lowering, space, loops, source(as_indices(loops)) * scale);
  const Extents extents = space.extents();
  const Var co("co");
  const Var ci("ci");
  const Var po("po");
  const Var pi("pi");
  const Var pv("pv");
  const std::int64_t whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(extents[1])));
  const std::int64_t lanes = std::min(site.lanes(), whole);
  out.split(p, po, pi, to_int(lanes * schedule["vectors"]), TailStrategy::ShiftInwards)
      .split(pi, pi, pv, to_int(lanes))
      .split(c, co, ci, to_int(schedule["channels"]), TailStrategy::RoundUp)
      .reorder(pv, ci, pi, po, co, loops[0])
      .vectorize(pv)
      .unroll(ci)
      .unroll(pi);
  parallelise(out, {loops[0], co}, {extents[0], ceil_div(channels, schedule["channels"])}, site);
}

std::vector<Schedule> pixels_space(const Site&, const Facts&) { return {Schedule{}}; }

void build_pixels(const Site& site, const Facts& facts, const Schedule&, Lowering& lowering) {
  const Window window(*site.anchor);
  const Space space = space_of(site.extents(site.result()));
  const std::int64_t channels = facts.find("channels")->second;
  const Readable source = lowering.read(site.anchor->inputs[0], space);
  const std::vector<Var> loops = loop_variables(3);
  const Var c = loops[2];
  const RDom inside(0, to_int(channels), "inside");
  Func squares("squares");
  squares(c, loops[1], loops[0]) = 0.F;
  const Expr one = source({loops[0], loops[1], inside});
  squares(inside + to_int(window.before), loops[1], loops[0]) = one * one;
  Expr sum = 0.F;
  for (std::int64_t i = 0; i < window.size; ++i) sum += squares(c + to_int(i), loops[1], loops[0]);
  const Expr scale = inverse_power(window.bias + window.factor * sum, window.beta);
  Func out = define_output(site, lowering, space, loops, source(as_indices(loops)) * scale);
  const Extents extents = space.extents();
  const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(channels)));
  const int lanes = to_int(std::min(site.lanes(), whole));
  const Var block("block");
  const Var lane("lane");
  const Var strip("strip");
  const Var p("p");
  // Some places at once, so that their squares are stored before they are read.
  const std::int64_t places = std::min<std::int64_t>(extents[1], 4);
  out.split(c, block, lane, lanes, TailStrategy::ShiftInwards)
      .split(loops[1], strip, p, to_int(places), TailStrategy::ShiftInwards)
      .reorder(lane, block, p, strip, loops[0])
      .vectorize(lane);
  const Var outer = parallelise(out, {loops[0], strip}, {extents[0], ceil_div(extents[1], places)}, site);
  squares.compute_at(out, outer).bound_extent(loops[1], to_int(places)).vectorize(c, lanes);
  squares.update().vectorize(inside.x, lanes, TailStrategy::GuardWithIf);
}

constexpr std::string_view kPlanesLegal =
    "all_channels % channels == 0 and vectors * lanes <= places or all_channels % channels == 0 and vectors == 1";

const std::array<Implementation, 2> kImplementations = {{{.name = "response_planes",
                                                          .condition = kHasPlain,
                                                          .priority = 10,
                                                          .layouts = {Layout::kPlain},
                                                          .space = planes_space,
                                                          .build = build_planes,
                                                          .choices = "channels: 1..8, vectors: 1..4",
                                                          .legal = kPlanesLegal},
                                                         {.name = "response_pixels",
                                                          .condition = kHasChannelsLast,
                                                          .priority = 9,
                                                          .layouts = {Layout::kChannelsLast},
                                                          .space = pixels_space,
                                                          .build = build_pixels}}};

}  // namespace

const Family kLocalResponseFamily = {.name = "local_response",
                                     .operators = "LRN",
                                     .read = read,
                                     .implementations = kImplementations,
                                     .domains = kLayoutsDomain};

}  // namespace collage::native
