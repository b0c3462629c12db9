// The transforms of Winograd's minimal filtering along one axis, for three taps (winograd.cpp explains them).
// In:  expressions of neighbours or of products. Out: as many points, or results.
// Cost: for m = 2 four and four additions, for m = 4 some 24 operations on each side.
// Source: Lavin and Gray, CVPR 2016; points 0, 1, -1 (m = 2) and 0, 1, -1, 2, -2 (m = 4).
#pragma once

#include <Halide.h>

#include <cstdint>
#include <vector>

namespace collage::native {

/// One expression for each of `count` places of a tile, as the transforms read them.
template <class At>
[[nodiscard]] std::vector<Halide::Expr> each(std::int64_t count, const At& at) {
  std::vector<Halide::Expr> all;
  for (int i = 0; i < count; ++i) all.push_back(at(i));
  return all;
}

/// B^T d: m + 2 neighbours at m + 2 points. A tile of 1 is not transformed.
[[nodiscard]] std::vector<Halide::Expr> winograd_input(std::int64_t tile, const std::vector<Halide::Expr>& d);

/// A^T p: m results from products at m + 2 points. A tile of 1 is not transformed.
[[nodiscard]] std::vector<Halide::Expr> winograd_output(std::int64_t tile, const std::vector<Halide::Expr>& p);

}  // namespace collage::native
