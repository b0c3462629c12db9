// Schedules that several strategies share.
// In:  a Func and its loop variables. Out: the same Func, scheduled.
// Source: Halide's scheduling directives.
#pragma once

#include <Halide.h>

#include <vector>

#include "compiler/selection/strategy.h"

namespace collage::native {

/// Work that touches so many bytes pays for waking another thread.
inline constexpr std::int64_t kBytesWorthAThread = std::int64_t{128} << 10;

/// Vectorises the innermost loop, unrolls a few vectors, and runs the outer loops in parallel if there are several
/// threads and enough work. `variables` are ordered from the outermost to the innermost, with these extents; `bytes` is
/// the number of bytes read and written for one element; `tail` says how the end of the innermost loop is handled.
void schedule_flat(Halide::Func func, const std::vector<Halide::Var>& variables, const Extents& extents,
                   std::int64_t bytes, const Site& site,
                   Halide::TailStrategy tail = Halide::TailStrategy::ShiftInwards);

/// The elements in one step of its innermost loop.
[[nodiscard]] std::int64_t flat_step(const Extents& extents, const Site& site);

/// Runs the outermost of these loops, outer to inner, in parallel when the region has threads: neighbours are joined
/// until there are some iterations for each thread. The innermost of them afterwards, which may be a joined one.
Halide::Var parallelise(Halide::Func func, const std::vector<Halide::Var>& outer, const Extents& extents,
                        const Site& site);

/// How to split a loop whose pieces may run in parallel. With threads no place is computed twice: unrolled copies of
/// the code may round differently, and which of two threads writes last is chance.
[[nodiscard]] Halide::TailStrategy tail_of_pieces(const Site& site);

/// Fixes the domain of an output: outer to inner.
void bound_all(Halide::Func func, const std::vector<Halide::Var>& variables, const Extents& extents);
/// Fixes the domain of the region's output over a space, but for open axes. `variables` are outer to inner.
void bound_output(Halide::Func func, const std::vector<Halide::Var>& variables, const Space& space,
                  const Lowering& lowering);

/// The region's one output over a space: the anchor's value with what stands after it, bounded and named as the output.
Halide::Func define_output(const Site& site, Lowering& lowering, const Space& space,
                           const std::vector<Halide::Var>& loops, const Halide::Expr& anchor_value);

/// The same, written by an update at these indices, which may hold variables of its reduction. Each place is written
/// once.
Halide::Func define_output_at(const Site& site, Lowering& lowering, const Space& space,
                              const std::vector<Halide::Var>& loops, const Indices& at,
                              const Halide::Expr& anchor_value);

/// As it lies in memory: bool becomes a byte, a narrow number is rounded to the nearest.
[[nodiscard]] Halide::Expr stored(const Halide::Expr& value, ElementType type);

/// A bound on `value` that holds and that Halide can see.
[[nodiscard]] Halide::Expr clamped(const Halide::Expr& value, std::int64_t extent);
[[nodiscard]] Halide::Expr clamped(const Halide::Expr& value, const Halide::Expr& extent);

/// The largest divisor of n that is at most `most`.
[[nodiscard]] std::int64_t largest_divisor(std::int64_t n, std::int64_t most);

[[nodiscard]] inline int to_int(std::int64_t n) { return static_cast<int>(n); }
[[nodiscard]] inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace collage::native
