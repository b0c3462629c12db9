#include "compiler/expressions/row_reduction.h"

#include <algorithm>

#include "compiler/codegen/loops.h"

namespace collage::native {

using Halide::Expr;
using Halide::RDom;

Expr neutral(Join join, const Halide::Type& type) {
  switch (join) {
    case Join::kSum:
      return Halide::Internal::make_zero(type);
    case Join::kProduct:
      return Halide::Internal::make_one(type);
    case Join::kMax:
      return type.is_float() ? -type.max() : type.min();
    case Join::kMin:
      return type.max();
  }
  return {};
}

Expr joined(Join join, const Expr& a, const Expr& b) {
  switch (join) {
    case Join::kSum:
      return a + b;
    case Join::kProduct:
      return a * b;
    case Join::kMax:
      return Halide::max(a, b);
    case Join::kMin:
      return Halide::min(a, b);
  }
  return {};
}

RowReduction joined_row(const std::string& name, Join join, std::int64_t length, std::int64_t lanes,
                        const std::vector<Expr>& kept, const std::function<Expr(const Expr& along)>& value) {
  std::int64_t together = std::min(lanes * 4, length);
  if (together > lanes) together = together / lanes * lanes;
  RowReduction row{.total = Halide::Func(name),
                   .part = Halide::Func(name + "_part"),
                   .lane = Halide::Var(name + "_lane"),
                   .lanes = together,
                   .rest = length % together,
                   .across = RDom(0, to_int(together), name + "_across")};
  const auto at = [&](const Expr& which) {
    std::vector<Expr> all = kept;
    all.insert(all.begin(), which);
    return all;
  };
  const RDom blocks(0, to_int(length / together), name + "_blocks");
  const Expr first = value(blocks * to_int(together) + row.lane);
  row.part(at(row.lane)) = neutral(join, first.type());
  row.part(at(row.lane)) = joined(join, row.part(at(row.lane)), first);
  if (row.rest != 0) {
    // Whole vectors that end where the row ends; what they have of the blocks does not count again.
    const std::int64_t wide = ceil_div(row.rest, lanes) * lanes;
    const RDom rest(0, to_int(wide), name + "_rest");
    const Expr last = value(rest + to_int(length - wide));
    const Expr fresh = Halide::select(rest >= to_int(wide - row.rest), last, neutral(join, first.type()));
    row.part(at(rest)) = joined(join, row.part(at(rest)), fresh);
  }
  row.total(kept) = neutral(join, first.type());
  row.total(kept) = joined(join, row.total(kept), row.part(at(row.across)));
  return row;
}

void vectorise(RowReduction& row, std::int64_t lanes) {
  const int vector = to_int(std::min(lanes, row.lanes));
  row.part.vectorize(row.lane, vector);
  const Halide::Var within(row.lane.name() + "_within");
  row.part.update(0)
      .split(row.lane, row.lane, within, vector)
      .reorder(within, row.lane, row.part.rvars(0)[0])
      .vectorize(within)
      .unroll(row.lane);
  if (row.rest != 0) row.part.update(1).vectorize(row.part.rvars(1)[0], vector);
  row.total.update().atomic().vectorize(row.across.x);
}

}  // namespace collage::native
