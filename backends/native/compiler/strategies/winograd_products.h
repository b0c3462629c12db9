// The middle of Winograd's filtering: for each point a matrix product of transformed tiles and transformed weights.
// In:  transformed tiles by (c, t, i, j, bx, by, n): channel, tile in a block, point, block, batch. Out: products by
// (ki,
//       t, i, j, bx, by, n, ko), outputs in blocks.
// How: in f32, or in 16-bit fixed point, with a scale for each tile at each point and for each output at each point.
// Cost: in fixed point half the multiplications, and another pass over the transformed tiles.
// Source: as winograd.cpp, fixed_point.h.
#pragma once

#include <optional>

#include "compiler/products/fixed_numbers.h"
#include "compiler/strategies/convolution.h"

namespace collage::native {

/// Where the tiles of one block are computed: inside this loop of the output.
struct WinogradBlock {
  Halide::Func out;
  Halide::Var loop;
  std::int64_t tiles = 0;
};

class WinogradProducts {
 public:
  WinogradProducts(const Dense& dense, const Site& site, Lowering& lowering, std::int64_t tile, std::int64_t block,
                   bool is_fixed, const Halide::Func& transformed);

  [[nodiscard]] const Halide::Func& func() const { return products_; }
  /// `tile_t` tiles by a block of outputs are summed in registers. The caller says where func() is computed.
  void schedule(const WinogradBlock& block, std::int64_t tile_t);

 private:
  void multiply(const Halide::Func& transformed, Lowering& lowering, std::int64_t tile);
  void multiply_fixed(const Halide::Func& transformed, Lowering& lowering, std::int64_t tile);

  const Dense& dense_;
  const Site& site_;
  std::int64_t block_;  ///< outputs
  bool is_fixed_;
  Halide::Var c_{"c"}, t_{"t"}, i_{"i"}, j_{"j"}, bx_{"bx"}, by_{"by"}, ki_{"ki"}, ko_{"ko"}, n_;
  Halide::Var chunk_{"chunk"};
  Halide::RDom r_;       ///< channels; in fixed point those of a chunk, in pairs
  Halide::RDom chunks_;  ///< in fixed point: sums of integers that are added up in f32
  std::optional<FixedScales> scales_;
  Halide::Func integers_{"integers"}, integer_sum_{"integer_sum"}, sum_{"sum"}, products_{"products"};
};

}  // namespace collage::native
