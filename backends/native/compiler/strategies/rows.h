// Reductions, softmax and normalisations: operators that work along neighbouring axes, one row or one group of rows at
// a time.
// In:  a region with such an anchor. Out: the reduced axes, and a writer for the stages of its kernel.
// How: axes in memory order are viewed as [outer, reduced, inner]. If the reduced axis is innermost, a row is summed in
//       several vectors that are combined at its end; otherwise neighbouring rows share a vector.
// Cost: one pass over a row for each reduction.
// Source: numerically safe softmax (subtract the maximum), variance in two passes.
#pragma once

#include "compiler/codegen/loops.h"
#include "compiler/expressions/row_reduction.h"

namespace collage::native {

/// Which axes the anchor works along, in the layout given.
struct Rows {
  Space space;          ///< of the anchor's input: outer axes, the reduced one, maybe an inner one
  std::size_t reduced;  ///< its place in the space
  Space result;         ///< of the anchor's output: the same axes, extent 1 at `reduced` for a reduction
  bool is_reduction = false;
  [[nodiscard]] bool has_inner() const { return reduced + 1 < space.rank(); }
  [[nodiscard]] std::int64_t length() const { return space.extent(reduced); }
};

/// Nothing when the reduced axes are not neighbours in memory.
[[nodiscard]] std::optional<Rows> rows_of(const Site& site, const Format& format);

/// The format of the anchor's input in a layout.
[[nodiscard]] Format format_in(const Site& site, Layout layout);

/// Writes the stages of one kernel.
class RowWriter {
 public:
  RowWriter(const Site& site, const Rows& rows, Lowering& lowering, bool is_automatic)
      : site_(site),
        rows_(rows),
        lowering_(lowering),
        is_automatic_(is_automatic),
        loops_(loop_variables(rows.space.rank())) {}

  /// The anchor's input, with the nodes before it applied, at all loop indices.
  Halide::Func source();
  /// One value for each row: `value` joined along it.
  Halide::Func reduce(const std::string& name, const Halide::Func& value, Join join);
  /// `func` is kept for the row it is computed for.
  void keep(const Halide::Func& func) { kept_funcs_.push_back(func); }
  /// A function of all loop indices.
  [[nodiscard]] Halide::Func mapped(const std::string& name, const Halide::Expr& value) const;

  /// `total` in an expression over all loop indices.
  [[nodiscard]] Halide::Expr row(const Halide::Func& total) const { return total(kept()); }
  [[nodiscard]] Halide::Expr here(const Halide::Func& func) const { return func(innermost_first(indices())); }
  [[nodiscard]] Indices indices() const { return as_indices(loops_); }
  [[nodiscard]] Lowering& lowering() { return lowering_; }

  /// Epilogue, output, loops.
  void finish(const Halide::Expr& value);

 private:
  /// Loop indices without the reduced one, innermost first.
  [[nodiscard]] std::vector<Halide::Expr> kept() const;
  /// All loop indices with another reduced one, innermost first.
  [[nodiscard]] std::vector<Halide::Expr> with(const Halide::Expr& along) const;
  /// Rows that are computed side by side.
  [[nodiscard]] std::int64_t rows_together() const;
  void schedule_strips(Halide::Func out, const Extents& extents);
  void schedule_rows(Halide::Func out, const Extents& extents, const std::vector<Halide::Var>& outer,
                     const Halide::Var& last);

  const Site& site_;
  const Rows& rows_;
  Lowering& lowering_;
  bool is_automatic_;  ///< schedules are found, not written
  std::vector<Halide::Var> loops_;
  std::vector<Halide::Func> kept_funcs_;
  std::vector<RowReduction> reductions_;
};

/// The value of a normalising anchor: layer, RMS, instance, mean-variance.
void write_norm(const Site& site, const Rows& rows, RowWriter& writer);

}  // namespace collage::native
