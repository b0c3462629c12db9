// Matrix products that are computed by a BLAS call for each tile of rows inside our loops. What follows the product is
// computed from the tile while it is in the cache.
// In:  two factors as views. Out: Halide code with an extern stage that calls the library.
// How: the stage calls a function of embedded/kernel_runtime.h, which gets the library's function when the kernel is
//       loaded. A family offers such products with one row of its table: sgemm_row<product_of>(layout, condition).
// Cost: a pass over the tile, and the library's fixed cost of a call.
// Source: library calls as implementations of operators (TVM's cblas and CUTLASS strategies); Halide's extern stages.
#pragma once

#include <functional>

#include "compiler/products/dense.h"

namespace collage::native {

/// A factor of a product as a stage that is not Halide's reads it.
struct FactorBuffer {
  Halide::ImageParam buffer;
  View view;
};

/// A stage of a function of the kernel's runtime, a product over these loops, outer to inner: batches, row, column.
/// `a` lies along batches, rows, depth, `b` along batches, depth, columns.
[[nodiscard]] Halide::Func product_stage(const std::string& symbol, const FactorBuffer& a, const FactorBuffer& b,
                                         const std::vector<Halide::Var>& loops);

struct LibraryProduct {
  ValueId a, b;
  View a_view;  ///< batch axes, rows, depth; one of the last two strides is 1
  View b_view;  ///< batch axes, depth, columns; likewise
  Space space;  ///< of the result: batch axes, rows, columns
  /// The anchor's value at a place from the product there.
  std::function<Halide::Expr(Lowering& lowering, const Indices& at, const Halide::Expr& product)> value;

  [[nodiscard]] std::int64_t rows() const { return space.extent(space.rank() - 2); }
  [[nodiscard]] std::int64_t columns() const { return space.extent(space.rank() - 1); }
};

/// When a Dense is a product of matrices (facts_of).
inline constexpr std::string_view kIsMatrixProduct =
    "taps == 1 and groups == 1 and in_d == out_d and in_h == out_h and in_w == out_w and "
    "stride_d == 1 and stride_h == 1 and stride_w == 1 and out_w > 1 and channels > 1 and outputs > 1";

/// The same, with a library to call (add_library_facts).
[[nodiscard]] std::string library_condition();

/// Precondition: kIsMatrixProduct holds.
[[nodiscard]] LibraryProduct library_product_of(const Dense& dense, const Site& site);

/// "libraries": how many BLAS libraries are here; none counts where kernels must be linkable.
void add_library_facts(const Site& site, Facts& facts);

/// Schedule: library, by its number among blas::library_names(); rows of a tile; build, a number for the library's
/// build that keeps costs of other builds apart.
[[nodiscard]] std::vector<Schedule> library_space(const LibraryProduct& product, const Site& site);
void build_library_product(const LibraryProduct& product, const Site& site, const Schedule& schedule,
                           Lowering& lowering);

template <LibraryProduct (*kProductOf)(const Site& site)>
[[nodiscard]] Implementation sgemm_row(Layout layout, std::string_view condition) {
  return {.name = "sgemm",
          .condition = condition,
          .priority = 5,
          .layouts = {layout},
          .space = [](const Site& site, const Facts&) { return library_space(kProductOf(site), site); },
          .build = [](const Site& site, const Facts&, const Schedule& schedule,
                      Lowering& lowering) { build_library_product(kProductOf(site), site, schedule, lowering); },
          .narrow = NarrowUse::kRefused};
}

}  // namespace collage::native
