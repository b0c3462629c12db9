// A pointwise convolution, or a product over rows, inside a kernel with other stages: computed in register tiles, from
// any Func into any Func.
// In:  a Dense with one tap, a source indexed by (channel, x, y, d, n). Out: Funcs and their schedule.
// Cost: as in dense.h.
// Source: blocked direct convolution (Georganas et al., SC 2018).
#pragma once

#include "compiler/products/dense.h"

namespace collage::native {

/// Names of loops: the five of a Dense, then what they are split into.
struct Loops {
  std::vector<Halide::Var> all = loop_variables(5);
  Halide::Var n = all[0], d = all[1], y = all[2], x = all[3], c = all[4];
  Halide::Var ci{"ci"}, co{"co"}, cu{"cu"}, cv{"cv"}, xi{"xi"}, xo{"xo"}, yi{"yi"}, yo{"yo"}, chunk{"chunk"};
};

/// Tiles of `tile_x` places by `block` outputs.
struct Pointwise {
  Dense dense;
  std::int64_t tile_x = 1;
  std::int64_t block = 1;
  Halide::Func sum;  ///< by (output in its block, x, y, d, n, block)
  Halide::RDom r;    ///< over inputs
};

/// One tap of stride 1 inside the source, one group.
[[nodiscard]] bool is_matrix_product(const Dense& dense);

[[nodiscard]] Pointwise pointwise_of(const Dense& dense, std::int64_t tile_x, std::int64_t tile_c,
                                     const std::string& name, const Halide::Func& source, Lowering& lowering);

/// The anchor's value at the loops' place.
[[nodiscard]] Halide::Expr value_of(const Pointwise& pointwise, const Site& site, Lowering& lowering);

/// Splits c and x of `stage`, which reads the sums, and keeps these in registers at each tile; the order of the
/// stage's loops is the caller's: cv, cu, xi innermost.
void schedule_pointwise(Halide::Func stage, Pointwise& pointwise, const Site& site);

/// What to do with outputs past the last whole block.
[[nodiscard]] Halide::TailStrategy tail_of(std::int64_t outputs, std::int64_t block);

}  // namespace collage::native
