#include "compiler/strategies/pointwise.h"

#include "compiler/codegen/loops.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

bool is_matrix_product(const Dense& dense) { return dense.is_pointwise() && dense.groups == 1; }

TailStrategy tail_of(std::int64_t outputs, std::int64_t block) {
  return outputs % block != 0 ? TailStrategy::Predicate : TailStrategy::RoundUp;
}

Pointwise pointwise_of(const Dense& dense, std::int64_t tile_x, std::int64_t tile_c, const std::string& name,
                       const Func& source, Lowering& lowering) {
  const Loops loops;
  const std::int64_t in = dense.channels();
  const std::int64_t block = tile_c * lowering.lanes();
  const Func weights =
      lowering.packed(dense.weights,
                      {.kind = PackingKind::kPanels,
                       .numbers = {dense.outputs(), 1, in, dense.out_stride, dense.tap_stride, dense.in_stride, block}},
                      ElementType::kFloat32, {ceil_div(dense.outputs(), block), in, block});
  const RDom r(0, to_int(in), name + "_r");
  Func sum(name + "_sum");
  sum(loops.ci, loops.x, loops.y, loops.d, loops.n, loops.co) = 0.0F;
  sum(loops.ci, loops.x, loops.y, loops.d, loops.n, loops.co) +=
      weights(loops.ci, r.x, loops.co) * source(r.x, loops.x, loops.y, loops.d, loops.n);
  return {.dense = dense, .tile_x = tile_x, .block = block, .sum = sum, .r = r};
}

Expr value_of(const Pointwise& pointwise, const Site& site, Lowering& lowering) {
  const Loops loops;
  const int block = to_int(pointwise.block);
  const Expr sum = pointwise.sum(loops.c % block, loops.x, loops.y, loops.d, loops.n, loops.c / block);
  return with_bias(pointwise.dense, site, lowering, as_indices(loops.all), sum);
}

void schedule_pointwise(Func stage, Pointwise& pointwise, const Site& site) {
  const Loops loops;
  const int block = to_int(pointwise.block);
  const int lanes = to_int(site.lanes());
  stage.split(loops.c, loops.co, loops.ci, block, tail_of(pointwise.dense.outputs(), block))
      .split(loops.x, loops.xo, loops.xi, to_int(pointwise.tile_x), TailStrategy::ShiftInwards)
      .split(loops.ci, loops.cu, loops.cv, lanes)
      .vectorize(loops.cv)
      .unroll(loops.cu)
      .unroll(loops.xi);
  Func sum = pointwise.sum;
  sum.compute_at(stage, loops.xo).bound_extent(loops.ci, block).bound_extent(loops.x, to_int(pointwise.tile_x));
  for (const Var& one : {loops.y, loops.d, loops.n, loops.co}) sum.bound_extent(one, 1);
  sum.split(loops.ci, loops.cu, loops.cv, lanes).vectorize(loops.cv).unroll(loops.cu).unroll(loops.x);
  sum.update()
      .split(loops.ci, loops.cu, loops.cv, lanes)
      .reorder(loops.cv, loops.cu, loops.x, pointwise.r.x, loops.y, loops.d, loops.n, loops.co)
      .vectorize(loops.cv)
      .unroll(loops.cu)
      .unroll(loops.x);
  const std::int64_t in = pointwise.dense.channels();
  if (in % 2 == 0) sum.update().unroll(pointwise.r.x, in % 4 == 0 ? 4 : 2);
}

}  // namespace collage::native
