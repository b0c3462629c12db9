#include <algorithm>

#include "compiler/codegen/autoschedule.h"
#include "compiler/strategies/rows.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

Func RowWriter::source() {
  Elements elements(lowering_, rows_.space, indices());
  Func func("source");
  func(innermost_first(loops_)) = elements.at(site_.anchor->inputs[0]);
  if (!site_.before.empty()) keep(func);
  return func;
}

Func RowWriter::mapped(const std::string& name, const Expr& value) const {
  Func func(name);
  func(innermost_first(loops_)) = value;
  return func;
}

Func RowWriter::reduce(const std::string& name, const Func& value, Join join) {
  // Without vectors a row is one sum.
  if (rows_.has_inner() || is_automatic_ || site_.lanes() == 1) {
    const RDom r(0, to_int(rows_.length()), name + "_r");
    Func total(name);
    total(kept()) = neutral(join, value.types()[0]);
    total(kept()) = joined(join, total(kept()), value(with(r)));
    reductions_.push_back({.total = total});
  } else {
    reductions_.push_back(joined_row(name, join, rows_.length(), site_.lanes(), kept(),
                                     [&](const Expr& along) { return value(with(along)); }));
  }
  return reductions_.back().total;
}

void RowWriter::finish(const Expr& value) {
  Func out = define_output(site_, lowering_, rows_.result, loops_, value);
  if (is_automatic_) return autoschedule(out, site_);
  const Extents extents = rows_.result.extents();
  const auto before = static_cast<std::ptrdiff_t>(rows_.reduced);
  std::vector<Var> outer(loops_.begin(), loops_.begin() + before);
  Extents outer_extents(extents.begin(), extents.begin() + before);
  if (rows_together() > 1) {
    const Var rows("rows");
    const Var row("row");
    out.split(outer.back(), rows, row, to_int(rows_together()), tail_of_pieces(site_));
    outer.back() = rows;
    outer_extents.back() = ceil_div(outer_extents.back(), rows_together());
  }
  const Var last = parallelise(out, outer, outer_extents, site_);
  if (rows_.has_inner())
    schedule_strips(out, extents);
  else
    schedule_rows(out, extents, outer, last);
}

std::int64_t RowWriter::rows_together() const {
  // What rows are joined to hangs on long chains of operations: those of several rows run side by side. Their values
  // stay in the first cache.
  constexpr std::int64_t kMost = 4;
  constexpr std::int64_t kMostBytes = std::int64_t{16} << 10;
  if (rows_.has_inner() || rows_.reduced == 0) return 1;
  const bool fits = kMost * rows_.length() * 4 <= kMostBytes;
  return fits && rows_.space.extent(rows_.reduced - 1) >= kMost ? kMost : 1;
}

std::vector<Expr> RowWriter::kept() const {
  std::vector<Expr> out;
  for (std::size_t i = loops_.size(); i-- > 0;)
    if (i != rows_.reduced) out.emplace_back(loops_[i]);
  return out;
}

std::vector<Expr> RowWriter::with(const Expr& along) const {
  Indices at = indices();
  at[rows_.reduced] = along;
  return innermost_first(at);
}

void RowWriter::schedule_strips(Func out, const Extents& extents) {
  const Var along = loops_[rows_.reduced];
  const Var inner = loops_.back();
  const Var strip("strip");
  const Var within("within");
  const int wide = to_int(std::min(site_.lanes(), extents.back()));
  out.split(inner, strip, within, wide, TailStrategy::ShiftInwards).vectorize(within);
  out.reorder(within, along, strip);
  for (Func func : kept_funcs_) func.compute_at(out, strip).vectorize(inner, wide);
  for (RowReduction& one : reductions_) {
    one.total.compute_at(out, strip).vectorize(inner, wide);
    one.total.update().vectorize(inner, wide);
  }
}

void RowWriter::schedule_rows(Func out, const Extents& extents, const std::vector<Var>& outer, const Var& last) {
  const Var along = loops_[rows_.reduced];
  const std::int64_t lanes = site_.lanes();
  const std::int64_t wide = std::min(lanes, extents[rows_.reduced]);
  if (wide > 1) out.vectorize(along, to_int(wide), TailStrategy::GuardWithIf);
  const auto place = [&](Func func) {
    if (outer.empty())
      func.compute_root();
    else
      func.compute_at(out, last);
    if (rows_together() > 1) func.bound_extent(loops_[rows_.reduced - 1], to_int(rows_together()));
  };
  const std::int64_t row_lanes = std::min(lanes, rows_.length());
  for (Func func : kept_funcs_) {
    place(func);
    if (row_lanes > 1) func.vectorize(along, to_int(row_lanes));
  }
  for (RowReduction& one : reductions_) {
    place(one.total);
    if (!one.part.defined()) continue;
    place(one.part);
    vectorise(one, lanes);
  }
}

}  // namespace collage::native
