// Reductions along one axis: sums, products, maxima and minima, one for each row.
// In:  a value by its index along the row. Out: Funcs to be scheduled, and their vectors.
// How: a contiguous row is reduced in up to four vectors, which are combined at its end.
// Cost: one pass over the row.
// Source: Halide's rfactor, written out.
#pragma once

#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

namespace collage::native {

enum class Join : std::uint8_t { kSum, kProduct, kMax, kMin };

[[nodiscard]] Halide::Expr neutral(Join join, const Halide::Type& type);
[[nodiscard]] Halide::Expr joined(Join join, const Halide::Expr& a, const Halide::Expr& b);

struct RowReduction {
  Halide::Func total;      ///< over the kept indices
  Halide::Func part = {};  ///< the same by lane; undefined for a row that does not lie in memory
  Halide::Var lane = {};
  std::int64_t lanes = 0;
  std::int64_t rest = 0;  ///< elements past the last whole step of all lanes
  Halide::RDom across = {};
};

/// A row of `length` values that lie one after the other, in vectors of `lanes` (of the machine). `kept` are the
/// indices of the row, innermost first.
[[nodiscard]] RowReduction joined_row(const std::string& name, Join join, std::int64_t length, std::int64_t lanes,
                                      const std::vector<Halide::Expr>& kept,
                                      const std::function<Halide::Expr(const Halide::Expr& along)>& value);

/// Vectors for its loops; placing `part` and `total` is the caller's.
void vectorise(RowReduction& row, std::int64_t lanes);

}  // namespace collage::native
