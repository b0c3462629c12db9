#include "compiler/expressions/elementary_functions.h"

#include <initializer_list>
#include <numbers>

namespace collage::native {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::select;

/// c[0] x^n + ... + c[n].
Expr polynomial(const Expr& x, std::initializer_list<double> coefficients) {
  Expr sum;
  for (const double c : coefficients) sum = sum.defined() ? sum * x + f32(c) : f32(c);
  return sum;
}

/// x = quarter * pi/2 + rest; in double, so that large arguments keep their last bits.
struct Reduced {
  Expr quarter;
  Expr rest;
};
Reduced reduce_angle(const Expr& x) {
  const Expr wide = cast<double>(x);
  const Expr quarter = Halide::round(wide * Expr(2 / std::numbers::pi));
  return {cast<std::int32_t>(quarter), cast<float>(wide - quarter * Expr(std::numbers::pi / 2))};
}

/// The sine of a quarter turn more each time.
Expr turned(const Reduced& angle, int quarters) {
  const Expr z = angle.rest * angle.rest;
  const Expr sine = polynomial(z, {-1.9515295891E-4, 8.3321608736E-3, -1.6666654611E-1}) * z * angle.rest + angle.rest;
  const Expr cosine = polynomial(z, {2.443315711809948E-5, -1.388731625493765E-3, 4.166664568298827E-2}) * z * z -
                      f32(0.5) * z + f32(1);
  const Expr which = (angle.quarter + quarters) & 3;
  const Expr size = select((which & 1) == 0, sine, cosine);
  return select((which & 2) == 0, size, -size);
}

Expr asin_small(const Expr& x) {
  const Expr z = x * x;
  return polynomial(z, {4.2163199048E-2, 2.4181311049E-2, 4.5470025998E-2, 7.4953002686E-2, 1.6666752422E-1}) * z * x +
         x;
}

/// Up to a half.
Expr atanh_small(const Expr& x) {
  const Expr z = x * x;
  return polynomial(z, {1.81740078349E-1, 8.24370301058E-2, 1.46691431730E-1, 1.99782164500E-1, 3.33337300303E-1}) * z *
             x +
         x;
}

}  // namespace

Halide::Expr sigmoid(const Halide::Expr& x) { return f32(1) / (f32(1) + Halide::exp(-x)); }

Halide::Expr tanh_of(const Halide::Expr& x) {
  const Expr z = x * x;
  const Expr small =
      polynomial(z, {-5.70498872745E-3, 2.06390887954E-2, -5.37397155531E-2, 1.33314422036E-1, -3.33332819422E-1}) * z *
          x +
      x;
  const Expr large = f32(1) - f32(2) / (Halide::exp(f32(2) * Halide::abs(x)) + f32(1));
  return select(Halide::abs(x) < f32(0.625), small, select(x < f32(0), -large, large));
}

Halide::Expr sinh_of(const Halide::Expr& x) {
  const Expr z = x * x;
  const Expr small = polynomial(z, {2.03721912945E-4, 8.33028376239E-3, 1.66667160211E-1}) * z * x + x;
  const Expr half = Halide::exp(Halide::abs(x) - f32(std::numbers::ln2));
  const Expr large = half - f32(0.25) / half;
  return select(Halide::abs(x) < f32(1), small, select(x < f32(0), -large, large));
}

Halide::Expr cosh_of(const Halide::Expr& x) {
  const Expr half = Halide::exp(Halide::abs(x) - f32(std::numbers::ln2));
  return half + f32(0.25) / half;
}

Halide::Expr sin_of(const Halide::Expr& x) { return turned(reduce_angle(x), 0); }

Halide::Expr cos_of(const Halide::Expr& x) { return turned(reduce_angle(x), 1); }

Halide::Expr tan_of(const Halide::Expr& x) {
  const Reduced angle = reduce_angle(x);
  return turned(angle, 0) / turned(angle, 1);
}

Halide::Expr asin_of(const Halide::Expr& x) {
  const Expr size = Halide::abs(x);
  const Expr large = f32(std::numbers::pi / 2) - f32(2) * asin_small(Halide::sqrt((f32(1) - size) * f32(0.5)));
  const Expr result = select(size > f32(0.5), large, asin_small(size));
  return select(x < f32(0), -result, result);
}

Halide::Expr acos_of(const Halide::Expr& x) {
  const Expr size = Halide::abs(x);
  const Expr large = f32(2) * asin_small(Halide::sqrt((f32(1) - size) * f32(0.5)));
  return select(size > f32(0.5), select(x < f32(0), f32(std::numbers::pi) - large, large),
                f32(std::numbers::pi / 2) - asin_small(x));
}

Halide::Expr atan_of(const Halide::Expr& x) {
  const Expr size = Halide::abs(x);
  const Expr is_large = size > f32(2.414213562373095);
  const Expr is_middle = size > f32(0.4142135623730950);
  const Expr small = select(is_large, f32(-1) / size, select(is_middle, (size - f32(1)) / (size + f32(1)), size));
  const Expr z = small * small;
  const Expr offset = select(is_large, f32(std::numbers::pi / 2), select(is_middle, f32(std::numbers::pi / 4), f32(0)));
  const Expr result =
      offset +
      (polynomial(z, {8.05374449538e-2, -1.38776856032E-1, 1.99777106478E-1, -3.33329491539E-1}) * z * small + small);
  return select(x < f32(0), -result, result);
}

Halide::Expr asinh_of(const Halide::Expr& x) {
  const Expr z = x * x;
  const Expr size = Halide::abs(x);
  const Expr small =
      polynomial(z, {2.0122003309E-2, -4.2699340972E-2, 7.4847586088E-2, -1.6666288134E-1}) * z * size + size;
  const Expr result = select(size < f32(0.5), small, Halide::log(size + Halide::sqrt(z + f32(1))));
  return select(x < f32(0), -result, result);
}

Halide::Expr acosh_of(const Halide::Expr& x) { return Halide::log(x + Halide::sqrt((x - f32(1)) * (x + f32(1)))); }

Halide::Expr atanh_of(const Halide::Expr& x) {
  return select(Halide::abs(x) < f32(0.5), atanh_small(x), f32(0.5) * Halide::log((f32(1) + x) / (f32(1) - x)));
}

/// e^x - 1 without losing the small ones.
Halide::Expr expm1_of(const Halide::Expr& x) {
  const Expr small = x + x * x *
                             polynomial(x, {1.9875691500E-4, 1.3981999507E-3, 8.3334519073E-3, 4.1665795894E-2,
                                            1.6666665459E-1, 5.0000001201E-1});
  return select(Halide::abs(x) < f32(0.5), small, Halide::exp(x) - f32(1));
}

/// log(1 + e^x), with log(1 + u) = 2 atanh(u / (2 + u)): what is far below zero keeps its digits.
Halide::Expr softplus(const Halide::Expr& x) {
  const Expr u = Halide::exp(-Halide::abs(x));
  return Halide::max(x, f32(0)) + f32(2) * atanh_small(u / (f32(2) + u));
}

Halide::Expr normal_distribution_near(const Halide::Expr& x) {
  // The least largest error among polynomials of this degree that reach a half at the end: beyond it the sum is 0 or 1.
  constexpr double kEnd = 4.2;
  const Expr inside = Halide::clamp(x, f32(-kEnd), f32(kEnd));
  const Expr factor =
      polynomial(inside * inside, {7.394375826E-11, -6.709908761E-9, 2.687407118E-7, -6.347535030E-6, 1.003396271E-4,
                                   -1.146782531E-3, 9.930490457E-3, -6.650486619E-2, 3.989739E-1});
  return Halide::max(inside * factor + f32(0.5), f32(0));
}

Halide::Expr exp_below_zero(const Halide::Expr& x) {
  // x = n ln 2 + rest: a float this large has n in its last bits, which then make the power of two.
  constexpr float kLarge = 12582912.F;
  const Expr bits = Halide::reinterpret<std::int32_t>(x * f32(std::numbers::log2e) + f32(kLarge));
  const Expr n = Halide::cast<float>(bits - Halide::reinterpret<std::int32_t>(f32(kLarge)));
  const Expr rest = x - n * f32(std::numbers::ln2);
  const Expr power = polynomial(
      rest, {1.9875691500E-4, 1.3981999507E-3, 8.3334519073E-3, 4.1665795894E-2, 1.6666665459E-1, 0.5, 1.0, 1.0});
  const Expr scale = Halide::reinterpret<float>((bits << 23) + Halide::reinterpret<std::int32_t>(f32(1)));
  return Halide::select(x < f32(-87), f32(0), power * scale);
}

}  // namespace collage::native
