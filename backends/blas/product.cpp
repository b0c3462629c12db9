#include "product.h"

#include <algorithm>
#include <utility>

namespace collage::blas {
namespace {

/// Calls visit(operand) for every operand.
template <class Visit>
void for_each_operand(Product& product, const Visit& visit) {
  visit(product.a);
  visit(product.b);
  visit(product.out);
  for (Addend& addend : product.addends) visit(addend.operand);
}

void drop_axis(Product& product, std::size_t axis) {
  const auto at = static_cast<std::ptrdiff_t>(axis);
  product.batch.erase(product.batch.begin() + at);
  for_each_operand(product, [&](Operand& operand) { operand.batch.erase(operand.batch.begin() + at); });
}

/// Joins a batch axis that the right factor does not have to the rows, when they go on along it.
bool join_rows(Product& product, std::size_t axis) {
  if (product.b.batch[axis] != 0) return false;
  bool fits = true;
  for_each_operand(product, [&](const Operand& operand) {
    fits = fits && (product.m == 1 || &operand == &product.b || operand.batch[axis] == operand.row * product.m);
  });
  if (!fits) return false;
  if (product.m == 1) {
    for_each_operand(product, [&](Operand& operand) {
      if (&operand != &product.b) operand.row = operand.batch[axis];
    });
  }
  product.m *= product.batch[axis];
  drop_axis(product, axis);
  return true;
}

bool join_columns(Product& product, std::size_t axis) {
  transpose(product);
  const bool joined = join_rows(product, axis);
  transpose(product);
  return joined;
}

/// Joins an axis to the one before it.
bool join_batch(Product& product, std::size_t axis) {
  if (axis == 0) return false;
  bool fits = true;
  for_each_operand(product, [&](const Operand& operand) {
    fits = fits && operand.batch[axis - 1] == operand.batch[axis] * product.batch[axis];
  });
  if (!fits) return false;
  product.batch[axis] *= product.batch[axis - 1];
  drop_axis(product, axis - 1);
  return true;
}

bool join_one(Product& product) {
  for (std::size_t axis = product.batch.size(); axis-- > 0;)
    if (join_rows(product, axis) || join_columns(product, axis) || join_batch(product, axis)) return true;
  return false;
}

}  // namespace

std::optional<Leading> leading_of(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  const auto checked = [](bool transposed, std::int64_t step, std::int64_t count,
                          std::int64_t dense) -> std::optional<Leading> {
    // A step that is never taken need not be the one that was found.
    if (count <= 1) step = std::max(step, dense);
    if (step < std::max<std::int64_t>(dense, 1)) return std::nullopt;
    return Leading{transposed, step};
  };
  if (columns <= 1 || operand.column == 1) return checked(false, operand.row, rows, std::max<std::int64_t>(columns, 1));
  if (rows <= 1 || operand.row == 1) return checked(true, operand.column, columns, std::max<std::int64_t>(rows, 1));
  return std::nullopt;
}

void transpose(Product& product) {
  std::swap(product.m, product.n);
  std::swap(product.a, product.b);
  for_each_operand(product, [](Operand& operand) { std::swap(operand.row, operand.column); });
}

void simplify(Product& product) {
  for (std::size_t axis = product.batch.size(); axis-- > 0;)
    if (product.batch[axis] == 1) drop_axis(product, axis);
  while (join_one(product)) continue;
}

bool orient(Product& product) {
  const auto is_row_major = [&] {
    const auto leading = leading_of(product.out, product.m, product.n);
    return leading && !leading->transposed;
  };
  if (is_row_major()) return true;
  transpose(product);
  return is_row_major();
}

std::int64_t batch_count(const Product& product) { return element_count(product.batch); }

std::int64_t offset_of(const Product& product, const Operand& operand, std::int64_t index) {
  std::int64_t offset = 0;
  for (std::size_t axis = product.batch.size(); axis-- > 0; index /= product.batch[axis])
    offset += index % product.batch[axis] * operand.batch[axis];
  return offset;
}

bool is_inside(const Product& product, const Operand& operand, std::int64_t rows, std::int64_t columns,
               std::int64_t elements) {
  if (operand.batch.size() != product.batch.size()) return false;
  std::int64_t last = 0;
  // Divides instead of multiplying: the numbers may be anything.
  const auto walk = [&](std::int64_t count, std::int64_t step) {
    if (step < 0) return false;
    if (count <= 1) return true;
    if (step > (elements - 1 - last) / (count - 1)) return false;
    last += step * (count - 1);
    return true;
  };
  const bool is_empty = rows == 0 || columns == 0 || std::ranges::find(product.batch, 0) != product.batch.end();
  if (is_empty) return elements >= 0;
  if (elements < 1 || !walk(rows, operand.row) || !walk(columns, operand.column)) return false;
  for (std::size_t axis = 0; axis < product.batch.size(); ++axis)
    if (!walk(product.batch[axis], operand.batch[axis])) return false;
  return true;
}

}  // namespace collage::blas
