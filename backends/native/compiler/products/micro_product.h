// Matrix products whose inner part is a libxsmm micro-kernel, generated for one tile and called inside our loops.
// Constant weights are packed in blocks of columns. What follows the product is computed from the tile.
// In:  two factors as views; the rows of the first one are contiguous. Out: Halide code with an extern stage.
// How: codegen.h links the micro-kernel's code into the kernel. A family offers such products with one row of its
//       table: xsmm_row<product_of>(layout, condition, legal).
// Cost: the call, and a pass over the tile in the cache.
// Source: LIBXSMM's batch-reduce kernels as building blocks (Georganas et al., IPDPS 2020).
#pragma once

#include "compiler/products/library_product.h"

namespace collage::native {

/// When a Dense is a product that a micro-kernel takes.
[[nodiscard]] std::string micro_condition();

/// "micro_kernels": whether there is a generator.
void add_micro_facts(Facts& facts);

/// Schedule: tile_x rows and `block` columns of a tile; outer, the outermost loop (0: columns, 1: rows); version, the
/// generator's, which keeps costs apart.
[[nodiscard]] std::vector<Schedule> micro_space(const LibraryProduct& product, const Site& site);
void build_micro_product(const LibraryProduct& product, const Site& site, const Schedule& schedule, Lowering& lowering);

/// The whole space.
[[nodiscard]] std::string_view micro_choices();
/// Which of it a Dense has: its weights are packed in blocks of whole vectors.
inline constexpr std::string_view kMicroLegal = "tile_x <= out_w and block % 16 == 0 and block < outputs + 16";

template <LibraryProduct (*kProductOf)(const Site& site)>
[[nodiscard]] Implementation xsmm_row(Layout layout, std::string_view condition, std::string_view legal) {
  return {.name = "xsmm",
          .condition = condition,
          .priority = 4,
          .layouts = {layout},
          .space = [](const Site& site, const Facts&) { return micro_space(kProductOf(site), site); },
          .build = [](const Site& site, const Facts&, const Schedule& schedule,
                      Lowering& lowering) { build_micro_product(kProductOf(site), site, schedule, lowering); },
          .choices = micro_choices(),
          .legal = legal,
          .narrow = NarrowUse::kRefused};
}

}  // namespace collage::native
