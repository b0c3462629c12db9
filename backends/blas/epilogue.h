// The epilogue of a product, applied to a tile while it is in the cache: an addend, a Relu.
// In:  a tile of the output. Out: the same tile.
// Cost: one pass over the tile, in loops compiled for several instruction sets.
#pragma once

#include <cstdint>

namespace collage::blas {

/// c = relu(c + scale * addend) for [rows, columns] elements; a null addend adds nothing.
struct Epilogue {
  float* c = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t step = 0;  ///< from one row of c to the next
  const float* addend = nullptr;
  std::int64_t addend_row = 0;  ///< the addend's own steps
  std::int64_t addend_column = 0;
  float scale = 1.F;
  bool relu = false;
};

void apply(const Epilogue& epilogue);

}  // namespace collage::blas
