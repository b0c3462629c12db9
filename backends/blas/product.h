// A batch of matrix products, described by strides: every operator that this backend supports is reduced to one.
// In:  operands viewed as [batch..., rows, columns]. Out: the same product with as few batch axes as possible, oriented
//       as BLAS requires.
// Cost: a few passes over the axes.
// Not here: which operators become products (lower.h), running them (kernel.h).
// Source: the row-major gemm of CBLAS. Axes that are contiguous with each other are merged into one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/type.h"

namespace collage::blas {

/// Where an operand's elements lie, in elements. A step of 0 repeats.
struct Operand {
  std::uint32_t source = 0;  ///< counts the region's inputs, then the artifact's constants
  std::int64_t row = 0;
  std::int64_t column = 0;
  Extents batch;  ///< one step per batch axis
  bool operator==(const Operand&) const = default;
};

struct Addend {
  Operand operand;
  float scale = 1.F;
  bool operator==(const Addend&) const = default;
};

/// out = relu(alpha a b + sum of addends). The source of `out` means nothing.
struct Product {
  Extents batch;
  std::int64_t m = 1, n = 1, k = 1;
  Operand a;    ///< [m, k]
  Operand b;    ///< [k, n]
  Operand out;  ///< [m, n]
  float alpha = 1.F;
  std::vector<Addend> addends;
  bool relu = false;
  /// The first addend is laid out as `out` is: BLAS adds it while it multiplies, and it may share the memory of `out`.
  bool accumulates = false;
  bool operator==(const Product&) const = default;
};

/// How CBLAS is told of a row-major matrix.
struct Leading {
  bool transposed = false;  ///< the matrix lies there column by column
  std::int64_t step = 1;    ///< from one row, or column, to the next
};

/// Nothing when neither rows nor columns lie densely.
[[nodiscard]] std::optional<Leading> leading_of(const Operand& operand, std::int64_t rows, std::int64_t columns);

/// The same product computed the other way round: out^T = b^T a^T.
void transpose(Product& product);

/// Drops axes of one element, and joins batch axes to rows, columns or one another.
void simplify(Product& product);

/// Turns the product so that rows of `out` are dense; false when that cannot be.
[[nodiscard]] bool orient(Product& product);

[[nodiscard]] std::int64_t batch_count(const Product& product);
/// Where matrix `index` of the batch begins, in elements.
[[nodiscard]] std::int64_t offset_of(const Product& product, const Operand& operand, std::int64_t index);
/// Whether `rows` by `columns` matrices of the whole batch lie inside a tensor of so many elements.
[[nodiscard]] bool is_inside(const Product& product, const Operand& operand, std::int64_t rows, std::int64_t columns,
                             std::int64_t elements);

}  // namespace collage::blas
