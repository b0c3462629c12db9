// Elementary functions of f32 as Halide expressions of polynomials, so that loops with them can be vectorised.
// In:  an f32 expression. Out: its function value, within a few units in the last place; NaN gives NaN.
// Source: the polynomials of Cephes (Moshier, Methods and Programs for Mathematical Functions, 1989), single precision.
#pragma once

#include <Halide.h>

namespace collage::native {

/// The constant as an f32.
[[nodiscard]] inline Halide::Expr f32(double value) { return Halide::Expr(static_cast<float>(value)); }

[[nodiscard]] Halide::Expr sigmoid(const Halide::Expr& x);
[[nodiscard]] Halide::Expr tanh_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr sinh_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr cosh_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr sin_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr cos_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr tan_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr asin_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr acos_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr atan_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr asinh_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr acosh_of(const Halide::Expr& x);
[[nodiscard]] Halide::Expr atanh_of(const Halide::Expr& x);
/// e^x - 1, exact for small x too.
[[nodiscard]] Halide::Expr expm1_of(const Halide::Expr& x);
/// log(1 + e^x).
[[nodiscard]] Halide::Expr softplus(const Halide::Expr& x);
/// The share of a standard normal distribution below x, within 2e-5; 0 below -4.2. NaN gives any number.
[[nodiscard]] Halide::Expr normal_distribution_near(const Halide::Expr& x);
/// e^x of an f32 that is at most 0, or no number; below -87, where e^x leaves the normal numbers, 0.
[[nodiscard]] Halide::Expr exp_below_zero(const Halide::Expr& x);

}  // namespace collage::native
