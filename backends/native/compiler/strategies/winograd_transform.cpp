#include "compiler/strategies/winograd_transform.h"

namespace collage::native {

using Halide::Expr;

std::vector<Expr> winograd_input(std::int64_t tile, const std::vector<Expr>& d) {
  if (tile == 1) return d;
  if (tile == 2) return {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]};
  return {4.F * d[0] - 5.F * d[2] + d[4],      (d[3] + d[4]) - 4.F * (d[1] + d[2]), (d[4] - d[3]) + 4.F * (d[1] - d[2]),
          (d[4] - d[2]) + 2.F * (d[3] - d[1]), (d[4] - d[2]) - 2.F * (d[3] - d[1]), 4.F * d[1] - 5.F * d[3] + d[5]};
}

std::vector<Expr> winograd_output(std::int64_t tile, const std::vector<Expr>& p) {
  if (tile == 1) return p;
  if (tile == 2) return {p[0] + p[1] + p[2], p[1] - p[2] - p[3]};
  const Expr sum = p[1] + p[2];
  const Expr difference = p[1] - p[2];
  const Expr sum2 = p[3] + p[4];
  const Expr difference2 = p[3] - p[4];
  return {p[0] + sum + sum2, difference + 2.F * difference2, sum + 4.F * sum2, difference + 8.F * difference2 + p[5]};
}

}  // namespace collage::native
