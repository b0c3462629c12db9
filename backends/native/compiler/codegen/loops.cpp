#include "compiler/codegen/loops.h"

#include <algorithm>
#include <bit>

#include "compiler/expressions/expression.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

Expr stored(const Expr& value, ElementType type) { return Halide::cast(stored_type(type), value); }

Expr clamped(const Expr& value, std::int64_t extent) { return Halide::clamp(value, 0, to_int(extent - 1)); }
Expr clamped(const Expr& value, const Expr& extent) { return Halide::clamp(value, 0, extent - 1); }

std::int64_t largest_divisor(std::int64_t n, std::int64_t most) {
  for (std::int64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

void bound_all(Halide::Func func, const std::vector<Var>& variables, const Extents& extents) {
  for (std::size_t i = 0; i < variables.size(); ++i) func.bound(variables[i], 0, to_int(extents[i]));
}

void bound_output(Halide::Func func, const std::vector<Var>& variables, const Space& space, const Lowering& lowering) {
  const ValueId output = lowering.region().outputs[0];
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (!lowering.is_open(output, space, i)) func.bound(variables[i], 0, to_int(space.extent(i)));
}

namespace {

/// The region's output at these indices, as it lies in memory.
Expr output_at(const Site& site, Lowering& lowering, const Space& space, const Indices& at, const Expr& anchor_value) {
  const ValueId output = site.region.outputs[0];
  Elements elements(lowering, space, at, {{site.result(), anchor_value}});
  return stored(elements.at(output), lowering.element_of(output));
}

Func as_output(const Func& out, const Site& site, Lowering& lowering, const Space& space,
               const std::vector<Var>& loops) {
  bound_output(out, loops, space, lowering);
  lowering.set_outputs(out, {site.region.outputs[0]}, space);
  return out;
}

}  // namespace

Func define_output(const Site& site, Lowering& lowering, const Space& space, const std::vector<Var>& loops,
                   const Expr& anchor_value) {
  Func out("out");
  out(innermost_first(loops)) = output_at(site, lowering, space, as_indices(loops), anchor_value);
  return as_output(out, site, lowering, space, loops);
}

Func define_output_at(const Site& site, Lowering& lowering, const Space& space, const std::vector<Var>& loops,
                      const Indices& at, const Expr& anchor_value) {
  const Expr value = output_at(site, lowering, space, at, anchor_value);
  Func out("out");
  out(innermost_first(loops)) = Halide::undef(value.type());
  out(innermost_first(at)) = value;
  return as_output(out, site, lowering, space, loops);
}

TailStrategy tail_of_pieces(const Site& site) {
  return site.options.threads < 2 ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
}

Var parallelise(Func func, const std::vector<Var>& outer, const Extents& extents, const Site& site) {
  if (outer.empty()) return Var::outermost();
  if (site.options.threads < 2) return outer.back();
  Var joined = outer[0];
  std::int64_t iterations = extents[0];
  std::size_t count = 1;
  for (; count < outer.size() && iterations < 4 * site.options.threads; ++count) {
    const Var both("p" + std::to_string(count));
    func.fuse(outer[count], joined, both);
    joined = both;
    iterations *= extents[count];
  }
  if (iterations > 1) func.parallel(joined);
  return count == outer.size() ? joined : outer.back();
}

namespace {

/// Lanes of the vectors of an innermost loop.
std::int64_t flat_lanes(std::int64_t inner, const Site& site) {
  return std::min(site.lanes(), static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(inner))));
}

}  // namespace

std::int64_t flat_step(const Extents& extents, const Site& site) {
  const std::int64_t lanes = flat_lanes(extents.back(), site);
  std::int64_t unroll = 1;
  while (unroll < 4 && lanes * unroll * 2 <= extents.back()) unroll *= 2;
  return lanes * unroll;
}

void schedule_flat(Halide::Func func, const std::vector<Var>& variables, const Extents& extents, std::int64_t bytes,
                   const Site& site, TailStrategy tail) {
  const std::int64_t inner = extents.back();
  const std::int64_t lanes = flat_lanes(inner, site);
  const std::int64_t together = flat_step(extents, site);
  const bool is_worth_threads = site.options.threads > 1 && element_count(extents) * bytes >= 2 * kBytesWorthAThread;

  std::vector<Var> outer(variables.begin(), variables.end() - 1);
  Extents outer_extents(extents.begin(), extents.end() - 1);
  Var innermost = variables.back();
  if (is_worth_threads && outer.empty()) {
    // One long loop: cut into pieces, each worth a thread.
    const Var piece("piece");
    const Var rest("rest");
    const std::int64_t size = std::max(together, ceil_div(kBytesWorthAThread, bytes) / lanes * lanes);
    func.split(innermost, piece, rest, to_int(size), tail);
    outer = {piece};
    outer_extents = {ceil_div(inner, size)};
    innermost = rest;
  }
  if (lanes > 1) {
    const Var block("block");
    const Var within("within");
    const Var step("step");
    const Var lane("lane");
    func.split(innermost, block, within, to_int(together), tail)
        .split(within, step, lane, to_int(lanes))
        .vectorize(lane)
        .unroll(step);
  }
  if (is_worth_threads) parallelise(func, outer, outer_extents, site);
}

}  // namespace collage::native
