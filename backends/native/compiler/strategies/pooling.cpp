// MaxPool and AveragePool in channels_last: windows joined on vectors of channels.
#include "backends/common/window/window.h"
#include "compiler/codegen/loops.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

/// Batch, depth, height, width, channels; missing spatial axes have a window of one place.
struct Pool {
  View view;
  Space space;
  std::array<std::int64_t, 3> in = {1, 1, 1}, kernel = {1, 1, 1}, strides = {1, 1, 1}, dilations = {1, 1, 1},
                              begin = {0, 0, 0}, end = {0, 0, 0};
  bool is_max = false;
  bool counts_padding = false;
};

std::expected<Pool, Refusal> pool_of(const Site& site) {
  const Node& node = *site.anchor;
  const Extents in = site.extents(node.inputs[0]);
  const Extents out = site.extents(node.outputs[0]);
  if (in.size() < 3 || in.size() > 5) return refuse(RefusalReason::kShape, "rank " + std::to_string(in.size()));
  if (site.type(node.inputs[0]).element != ElementType::kFloat32) return refuse(RefusalReason::kType, "not f32");
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i].valid()) return refuse(RefusalReason::kStructure, "more than one output");
  const auto window = window_of(node, attribute_or<Extents>(node, "kernel_shape", {}), spatial(in), spatial(out));
  if (!window) return std::unexpected(window.error());
  Pool pool{.view = *view_of(in, channels_last(), activation_space(in)), .space = activation_space(out)};
  pool.is_max = node.op_type == "MaxPool";
  pool.counts_padding = attribute_or<std::int64_t>(node, "count_include_pad", 0) != 0;
  // Places past the padding the model gives are never counted, which a plain divisor cannot say.
  if (pool.counts_padding && window->sticks_out) return refuse(RefusalReason::kAttribute, "windows past the padding");
  const std::size_t first = 3 - (in.size() - 2);
  for (std::size_t i = 0; i + 2 < in.size(); ++i) {
    pool.in[first + i] = in[2 + i];
    pool.kernel[first + i] = window->kernel[i];
    pool.strides[first + i] = window->strides[i];
    pool.dilations[first + i] = window->dilations[i];
    pool.begin[first + i] = window->begin[i];
    pool.end[first + i] = window->end[i];
  }
  return pool;
}

std::expected<Facts, Refusal> read(const Site& site) {
  if (auto ok = check_no_prologue(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const auto pool = pool_of(site);
  if (!pool) return std::unexpected(pool.error());
  return Facts{{"channels", pool->space.extent(4)}, {"taps", pool->kernel[0] * pool->kernel[1] * pool->kernel[2]}};
}

std::vector<Schedule> space(const Site&, const Facts& facts) {
  // Few taps are written out, many are a loop.
  return {{{"written_out", facts.find("taps")->second <= 16 ? 1 : 0}}};
}

void build(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const Pool pool = *pool_of(site);
  const std::vector<Var> loops = loop_variables(5);
  const Func port = lowering.read(site.anchor->inputs[0], pool.view).func;
  const std::array<Var, 3> at = {loops[1], loops[2], loops[3]};
  const auto along = [&](const Expr& tap, std::size_t axis) {
    return at.at(axis) * to_int(pool.strides[axis]) + tap * to_int(pool.dilations[axis]) - to_int(pool.begin[axis]);
  };
  const auto is_padded = [&](std::size_t axis) { return pool.begin[axis] > 0 || pool.end[axis] > 0; };
  Halide::Region bounds(5, Halide::Range(Expr(), Expr()));
  bool has_padding = false;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!is_padded(axis)) continue;
    has_padding = true;
    bounds[3 - axis] = Halide::Range(0, to_int(pool.in[axis]));
  }
  const Expr outside = pool.is_max ? Halide::Float(32).min() : Expr(0.F);
  const Func source = has_padding ? Halide::BoundaryConditions::constant_exterior(port, outside, bounds) : port;
  const auto join = [&](const Expr& a, const Expr& b) { return pool.is_max ? Halide::max(a, b) : a + b; };
  const auto value = [&](const Expr& kw, const Expr& kh, const Expr& kd) {
    return source(loops[4], along(kw, 2), along(kh, 1), along(kd, 0), loops[0]);
  };
  // How many places of the window along one axis lie in the source.
  const auto inside = [&](std::size_t axis) {
    Expr count = 0;
    for (std::int64_t tap = 0; tap < pool.kernel[axis]; ++tap) {
      const Expr place = along(to_int(tap), axis);
      count += Halide::select(place >= 0 && place < to_int(pool.in[axis]), 1, 0);
    }
    return count;
  };

  Expr total;
  Func sum("sum");
  const bool written_out = schedule["written_out"] != 0;
  if (written_out) {
    for (std::int64_t kd = 0; kd < pool.kernel[0]; ++kd)
      for (std::int64_t kh = 0; kh < pool.kernel[1]; ++kh)
        for (std::int64_t kw = 0; kw < pool.kernel[2]; ++kw) {
          const Expr one = value(to_int(kw), to_int(kh), to_int(kd));
          total = total.defined() ? join(total, one) : one;
        }
  } else {
    const RDom r(0, to_int(pool.kernel[2]), 0, to_int(pool.kernel[1]), 0, to_int(pool.kernel[0]), "r");
    sum(innermost_first(loops)) = outside;
    const Expr before = sum(innermost_first(as_indices(loops)));
    sum(innermost_first(loops)) = join(before, value(r.x, r.y, r.z));
    total = sum(innermost_first(as_indices(loops)));
  }
  if (!pool.is_max) {
    Expr count = to_int(pool.kernel[0] * pool.kernel[1] * pool.kernel[2]);
    if (!pool.counts_padding && has_padding) {
      count = 1;
      for (std::size_t axis = 0; axis < 3; ++axis)
        count = count * (is_padded(axis) ? inside(axis) : Expr(to_int(pool.kernel[axis])));
    }
    total = total * (1.F / Halide::cast<float>(count));
  }
  Func out = define_output(site, lowering, pool.space, loops, total);
  const Extents extents = pool.space.extents();
  const Var block("block");
  const Var lane("lane");
  const std::int64_t lanes = std::min(site.lanes(), extents[4]);
  out.split(loops[4], block, lane, to_int(lanes), TailStrategy::ShiftInwards)
      .reorder(lane, block, loops[3], loops[2], loops[1], loops[0])
      .vectorize(lane);
  if (!written_out) {
    sum.compute_at(out, block).vectorize(loops[4], to_int(lanes));
    sum.update().vectorize(loops[4], to_int(lanes));
  }
  parallelise(out, {loops[0], loops[1], loops[2]}, {extents[0], extents[1], extents[2]}, site);
}

const std::array<Implementation, 1> kImplementations = {{{.name = "windows",
                                                          .condition = "",
                                                          .priority = 10,
                                                          .layouts = {Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build,
                                                          .choices = "written_out: 0|1",
                                                          .legal = "written_out == 0 or taps <= 64"}}};

}  // namespace

const Family kPoolingFamily = {
    .name = "pooling", .operators = "MaxPool|AveragePool", .read = read, .implementations = kImplementations};

}  // namespace collage::native
