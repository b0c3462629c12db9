#include "compiler/products/fixed_numbers.h"

namespace collage::native {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::reinterpret;
using Halide::Var;

namespace {

/// Infinity, as bits; those of NaN are larger, those of other magnitudes smaller.
constexpr int kInfinityBits = 0x7f800000;
constexpr int kNanBits = 0x7fc00000;
constexpr int kMagnitude = 0x7fffffff;
/// 1.5 * 2^23: what is added to it is rounded to an integer, which the low bits hold.
constexpr float kRounding = 12582912.F;
/// Smaller ones are as good as zero: the inverse of their scale would overflow.
constexpr float kLeastPeak = 1e-30F;

/// The bits of the largest magnitude of each group; as integers they are in the order of the numbers, NaN last.
Func peaks_of(const FixedGroups& groups) {
  const Var lane("lane");
  const RDom r(0, static_cast<int>(groups.elements / groups.lanes), "rp");
  const int lanes = static_cast<int>(groups.lanes);
  const Expr bits = reinterpret<std::int32_t>(groups.value(r * lanes + lane)) & kMagnitude;
  std::vector<Expr> place(groups.places.begin(), groups.places.end());
  std::vector<Expr> in_lane = place;
  in_lane.insert(in_lane.begin(), lane);
  Func of_lanes("lane_peaks");
  of_lanes(in_lane) = 0;
  of_lanes(in_lane) = Halide::max(of_lanes(in_lane), bits);
  const RDom all(0, lanes, "rl");
  in_lane[0] = all;
  Func peaks("peaks");
  peaks(place) = 0;
  peaks(place) = Halide::max(peaks(place), of_lanes(in_lane));
  peaks.update().atomic().vectorize(all);
  of_lanes.compute_at(peaks, groups.places[0]).bound(lane, 0, lanes).vectorize(lane);
  of_lanes.update().vectorize(lane);
  return peaks;
}

}  // namespace

std::int64_t fixed_levels(std::int64_t terms) {
  constexpr std::int64_t kShortSum = 128;
  return terms <= kShortSum ? 16383 : 8191;
}

FixedScales::FixedScales(const FixedGroups& groups, std::int64_t levels) {
  const std::vector<Expr> place(groups.places.begin(), groups.places.end());
  const Expr peak = peaks_of(groups)(place);
  const Expr is_finite = peak < kInfinityBits;
  const Expr value = Halide::max(reinterpret<float>(peak), kLeastPeak);
  const auto most = static_cast<float>(levels);
  // Chosen as bits: in arithmetic of floats a compiler may assume that there is no NaN.
  const Expr scale =
      reinterpret<float>(Halide::select(is_finite, reinterpret<std::int32_t>(value * (1.F / most)), kNanBits));
  scales_(groups.places) = Halide::Tuple(scale, Halide::select(is_finite, most / value, 0.F));
}

Expr FixedScales::integer(const Expr& value, const std::vector<Expr>& place) const {
  return cast<std::int16_t>(reinterpret<std::int32_t>(value * Expr(scales_(place)[1]) + kRounding));
}

}  // namespace collage::native
