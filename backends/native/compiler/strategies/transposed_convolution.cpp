// ConvTranspose with constant weights, by sub-pixel phases. Output positions with equal remainder modulo the stride
// form a dense product over the kernel taps that reach them, so nothing is multiplied with inserted zeros.
// Example: stride 2 and kernel (w0, w1, w2, w3) in one dimension: even outputs are y[2i] = x[i] w0 + x[i-1] w2, odd
// ones y[2i+1] = x[i] w1 + x[i-1] w3, two products each.
// Source: sub-pixel convolution (Shi et al., CVPR 2016). A kernel as large as its stride is one matrix product.
#include <numeric>

#include "backends/common/window/window.h"
#include "compiler/codegen/loops.h"
#include "compiler/products/dense.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

std::expected<Window, Refusal> checked_window(const Site& site, const Extents& kernel) {
  const Node& node = *site.anchor;
  return transposed_window_of(node, kernel, spatial(site.extents(node.inputs[0])),
                              spatial(site.extents(node.outputs[0])));
}

/// The source along batch, depth, height, width, channels lies as its port's format says. `begin` is what is cut off
/// before the full result.
std::expected<Dense, Refusal> transposed_of(const Site& site) {
  const Node& node = *site.anchor;
  const Extents in = site.extents(node.inputs[0]);
  const Extents out = site.extents(node.outputs[0]);
  const Tensor* weights = constant_of(site.graph, node.inputs[1]);
  if (in.size() < 3 || in.size() > 5) return refuse(RefusalReason::kShape, "rank " + std::to_string(in.size()));
  if (weights == nullptr) return refuse(RefusalReason::kStructure, "computed weights");
  if (site.type(node.inputs[0]).element != ElementType::kFloat32) return refuse(RefusalReason::kType, "not f32");
  const Extents kernel(weights->extents.begin() + 2, weights->extents.end());
  const auto window = checked_window(site, kernel);
  if (!window) return std::unexpected(window.error());
  const std::int64_t taps = element_count(kernel);
  Dense dense{.source = node.inputs[0],
              .view = *view_of(in, plain(), activation_space(in)),
              .space = activation_space(out),
              .weights = node.inputs[1],
              .out_stride = taps,
              .tap_stride = 1,
              .in_stride = taps * weights->extents[1],
              .bias = input_of(node, 2),
              .bias_view = {.extents = {1, 1, 1, 1, out[1]}, .strides = {0, 0, 0, 0, out[1] > 1 ? 1 : 0}},
              .groups = attribute_or<std::int64_t>(node, "group", 1)};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::size_t axis = 3 - kernel.size() + i;
    dense.kernel[axis] = kernel[i];
    dense.strides[axis] = window->strides[i];
    dense.dilations[axis] = window->dilations[i];
    dense.begin[axis] = window->begin[i];
  }
  return dense;
}

/// Which taps reach a phase along one axis, and from where. With g = gcd(dilation, stride), the taps of a phase are
/// `period` = stride / g apart, their sources `step` = dilation / g.
class Phases {
 public:
  Phases(const Dense& dense, std::size_t axis)
      : kernel_(dense.kernel[axis]),
        stride_(dense.strides[axis]),
        dilation_(dense.dilations[axis]),
        begin_(dense.begin[axis]),
        in_(dense.in(axis)),
        out_(dense.out(axis)),
        common_(std::gcd(dilation_, stride_)),
        period_(stride_ / common_) {}

  /// Most taps of a phase, and places of the longest.
  [[nodiscard]] std::int64_t taps() const { return ceil_div(kernel_, period_); }
  [[nodiscard]] std::int64_t places() const { return ceil_div(out_, stride_); }
  [[nodiscard]] bool reaches_out() const {
    const std::int64_t last = places() - 1 + (stride_ - 1 + begin_) / stride_;
    return begin_ / stride_ < (taps() - 1) * (dilation_ / common_) || last >= in_ || common_ > 1 || dilation_ > 1;
  }

  /// The j-th tap that reaches place `place * stride + phase` of the result.
  [[nodiscard]] Expr tap(const Expr& phase, const RVar& j) const { return first(phase) + j * to_int(period_); }
  [[nodiscard]] Expr source(const Expr& place, const Expr& phase, const RVar& j) const {
    const Expr moved = phase + to_int(begin_);
    const Expr remainder = moved % to_int(stride_);
    Expr at = place + moved / to_int(stride_) - j * to_int(dilation_ / common_);
    // Without dilation the first tap is the remainder itself.
    if (dilation_ > 1) at = at - (first(phase) * to_int(dilation_) - remainder) / to_int(stride_);
    return at;
  }
  /// Leaves out the taps that a phase does not have.
  void restrict(RDom& r, const Expr& phase, const RVar& j) const {
    if (kernel_ % period_ != 0) r.where(tap(phase, j) < to_int(kernel_));
    if (common_ > 1) r.where((phase + to_int(begin_)) % to_int(common_) == 0);
  }

 private:
  /// The least tap t with t * dilation = phase + begin modulo the stride.
  [[nodiscard]] Expr first(const Expr& phase) const {
    const Expr remainder = (phase + to_int(begin_)) % to_int(stride_);
    if (dilation_ == 1) return remainder;
    std::int64_t inverse = 0;
    while (inverse < period_ && inverse * (dilation_ / common_) % period_ != 1 % period_) ++inverse;
    return remainder / to_int(common_) * to_int(inverse) % to_int(period_);
  }

  std::int64_t kernel_, stride_, dilation_, begin_, in_, out_, common_, period_;
};

/// One phase as the convolution that it is: what register tiles are chosen for.
Dense phase_of(const Dense& dense) {
  Dense phase = dense;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Phases phases(dense, axis);
    phase.kernel[axis] = phases.taps();
    if (!dense.space.axes[axis + 1].empty()) phase.space.result[dense.space.axes[axis + 1][0]] = phases.places();
  }
  return phase;
}

std::expected<Facts, Refusal> read(const Site& site) {
  if (auto ok = check_no_prologue(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const auto dense = transposed_of(site);
  if (!dense) return std::unexpected(dense.error());
  Facts facts = facts_of(*dense, site);
  facts["places_w"] = Phases(*dense, 2).places();
  return facts;
}

/// Tiles are of places of one phase; blocks of outputs may span groups.
constexpr std::string_view kLegal =
    "tile_x * tile_c + tile_c + 1 <= registers and tile_x <= places_w and tile_c * lanes < outputs + lanes and "
    "group_channels % unroll == 0";

std::vector<Schedule> space(const Site& site, const Facts&) {
  Dense phase = phase_of(*transposed_of(site));
  // Blocks of outputs may span groups here.
  if (phase.groups > 1 && phase.outputs() / phase.groups % site.lanes() != 0) phase.groups = 1;
  return dense_space(phase, site);
}

/// Names of loops: outputs in a block, places of a phase, phases along a row, then the result's own.
struct PhaseLoops {
  Var ci{"ci"}, place{"place"}, phase{"phase"}, y{"y"}, d{"d"}, n{"n"}, co{"co"};
};

/// Sums of products over the taps that a phase has.
struct Sums {
  Func func;  ///< by all of Loops
  RDom r;     ///< over channels, taps along a row, down, deep
};

/// The channel read for an output; blocks of outputs may span groups.
Expr channel_of(const Dense& dense, std::int64_t block, const RVar& r) {
  if (dense.groups == 1) return r;
  const std::int64_t in = dense.channels() / dense.groups;
  const std::int64_t per_group = dense.outputs() / dense.groups;
  const PhaseLoops loops;
  const Expr first = loops.co * to_int(block);
  const Expr output = per_group % block == 0 ? first : first + loops.ci;
  return clamped(output / to_int(per_group) * to_int(in) + r, dense.channels());
}

Func packed_weights(const Dense& dense, std::int64_t block, Lowering& lowering) {
  const std::int64_t in = dense.channels() / dense.groups;
  const auto& kernel = dense.kernel;
  return lowering.packed(dense.weights,
                         {.kind = PackingKind::kPanels,
                          .numbers = {dense.outputs(), dense.taps(), in, dense.out_stride, dense.tap_stride,
                                      dense.in_stride, block, dense.outputs() / dense.groups, dense.in_stride * in}},
                         ElementType::kFloat32,
                         {ceil_div(dense.outputs(), block), kernel[0], kernel[1], kernel[2], in, block});
}

Sums sums_of(const Dense& dense, const Site& site, std::int64_t block, Lowering& lowering) {
  const PhaseLoops loops;
  const std::array<Phases, 3> axes = {Phases(dense, 0), Phases(dense, 1), Phases(dense, 2)};
  Func source = lowering.read(dense.source, activation_space(site.extents(dense.source))).func;
  if (axes[2].reaches_out()) source = padded_source(dense, source, {2}, true);
  const Func weights = packed_weights(dense, block, lowering);
  RDom r(0, to_int(dense.channels() / dense.groups), 0, to_int(axes[2].taps()), 0, to_int(axes[1].taps()), 0,
         to_int(axes[0].taps()), "r");
  const std::array<RVar, 3> taps = {r.w, r.z, r.y};
  const std::array<Expr, 3> phases = {loops.d % to_int(dense.strides[0]), loops.y % to_int(dense.strides[1]),
                                      loops.phase};
  const std::array<Expr, 3> places = {loops.d / to_int(dense.strides[0]), loops.y / to_int(dense.strides[1]),
                                      loops.place};
  std::array<Expr, 3> at;
  std::array<Expr, 3> tap;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    axes.at(axis).restrict(r, phases.at(axis), taps.at(axis));
    tap.at(axis) = clamped(axes.at(axis).tap(phases.at(axis), taps.at(axis)), dense.kernel.at(axis));
    at.at(axis) = axes.at(axis).source(places.at(axis), phases.at(axis), taps.at(axis));
    // Taps outside the source are left out of the loop; the clamp is for Halide's eyes. Columns have zeros instead.
    if (axis == 2 || !axes.at(axis).reaches_out()) continue;
    r.where(at.at(axis) >= 0 && at.at(axis) < to_int(dense.in(axis)));
    at.at(axis) = clamped(at.at(axis), dense.in(axis));
  }
  const Expr product = weights(loops.ci, r.x, tap[2], tap[1], tap[0], loops.co) *
                       source(channel_of(dense, block, r.x), at[2], at[1], at[0], loops.n);
  Func sum("sum");
  sum(loops.ci, loops.place, loops.phase, loops.y, loops.d, loops.n, loops.co) = 0.0F;
  sum(loops.ci, loops.place, loops.phase, loops.y, loops.d, loops.n, loops.co) += product;
  return {.func = sum, .r = r};
}

/// Accumulators stay in registers for one phase of a tile.
void schedule_sums(Sums& sums, Func products, const Schedule& schedule, const Site& site) {
  const PhaseLoops loops;
  const Var cu("cu"), cv("cv");
  const int lanes = to_int(site.lanes());
  const int block = to_int(schedule["tile_c"]) * lanes;
  products.split(loops.ci, cu, cv, lanes)
      .reorder(cv, cu, loops.place, loops.phase, loops.y, loops.d, loops.n, loops.co)
      .vectorize(cv)
      .unroll(cu)
      .unroll(loops.place);
  Func sum = sums.func;
  for (Func func : {products, sum}) {
    func.bound_extent(loops.ci, block).bound_extent(loops.place, to_int(schedule["tile_x"]));
    for (const Var& one : {loops.y, loops.d, loops.n, loops.co}) func.bound_extent(one, 1);
  }
  sum.compute_at(products, loops.phase).bound_extent(loops.phase, 1);
  sum.split(loops.ci, cu, cv, lanes).vectorize(cv).unroll(cu).unroll(loops.place);
  const RDom& r = sums.r;
  sum.update()
      .split(loops.ci, cu, cv, lanes)
      .reorder(cv, cu, loops.place, r.x, r.y, r.z, r.w, loops.phase, loops.y, loops.d, loops.n, loops.co)
      .vectorize(cv)
      .unroll(cu)
      .unroll(loops.place);
  if (schedule["unroll"] > 1) sum.update().unroll(r.x, to_int(schedule["unroll"]));
}

void build(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const Dense dense = *transposed_of(site);
  const int lanes = to_int(site.lanes());
  const int block = to_int(schedule["tile_c"]) * lanes;
  const int stride = to_int(dense.strides[2]);
  Sums sums = sums_of(dense, site, block, lowering);
  const PhaseLoops inner;
  Func products("products");
  products(inner.ci, inner.place, inner.phase, inner.y, inner.d, inner.n, inner.co) =
      sums.func(inner.ci, inner.place, inner.phase, inner.y, inner.d, inner.n, inner.co);

  const std::vector<Var> loops = loop_variables(5);
  const Var n = loops[0], d = loops[1], y = loops[2], x = loops[3], c = loops[4];
  const Expr total = products(c % block, x / stride, x % stride, y, d, n, c / block);
  Func out =
      define_output(site, lowering, dense.space, loops, with_bias(dense, site, lowering, as_indices(loops), total));
  const Extents extents = dense.space.extents();

  const Var co("co"), ci("ci"), cu("cu"), cv("cv"), place("place"), phase("phase"), xo("xo"), xi("xi");
  out.split(c, co, ci, block, dense.outputs() % block != 0 ? TailStrategy::Predicate : TailStrategy::RoundUp)
      .split(x, place, phase, stride, extents[3] % stride != 0 ? TailStrategy::GuardWithIf : TailStrategy::RoundUp)
      .split(place, xo, xi, to_int(schedule["tile_x"]), TailStrategy::ShiftInwards)
      .split(ci, cu, cv, lanes)
      .vectorize(cv)
      .unroll(cu);
  const std::int64_t blocks = ceil_div(extents[4], block);
  if (schedule["rows"] != 0) {
    out.reorder(cv, cu, phase, xi, xo, co, y, d, n);
    parallelise(out, {n, d, y, co}, {extents[0], extents[1], extents[2], blocks}, site);
  } else {
    out.reorder(cv, cu, phase, xi, xo, y, d, n, co);
    parallelise(out, {co, n, d, y}, {blocks, extents[0], extents[1], extents[2]}, site);
  }
  products.compute_at(out, xo).bound_extent(inner.phase, stride);
  schedule_sums(sums, products, schedule, site);
}

const std::array<Implementation, 1> kImplementations = {{{.name = "phases",
                                                          .condition = "",
                                                          .priority = 10,
                                                          .layouts = {Layout::kChannelsLast, Layout::kPlain},
                                                          .space = space,
                                                          .build = build,
                                                          .choices = kDenseChoices,
                                                          .legal = kLegal}}};

}  // namespace

const Family kTransposedConvolutionFamily = {
    .name = "transposed_convolution", .operators = "ConvTranspose", .read = read, .implementations = kImplementations};

}  // namespace collage::native
