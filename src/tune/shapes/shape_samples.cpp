#include "tune/shapes/shape_samples.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"

namespace collage {
namespace {

std::unexpected<Error> malformed(const std::string& text) {
  return fail(ExitCode::kUsage, "shape/malformed", "--at", "'" + text + "'",
              "extents of all dimensions and perhaps a weight above 0, such as batch=4,seq=64:3");
}

Result<double> weight_in(const std::string& weight, const std::string& text) {
  const auto value = number_in<double>(weight);
  if (!value || !std::isfinite(*value) || *value <= 0) return malformed(text);
  return *value;
}

/// `most` of the steps, the first and the last among them.
std::vector<std::int64_t> thinned(const std::vector<std::int64_t>& steps, std::size_t most) {
  if (steps.size() <= most) return steps;
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < most; ++i) {
    const double at = static_cast<double>(i * (steps.size() - 1)) / static_cast<double>(most - 1);
    kept.push_back(steps[static_cast<std::size_t>(std::lround(at))]);
  }
  return kept;
}

/// Whether the grid has more points than that; its size itself may be beyond all numbers.
bool is_larger(const std::vector<std::vector<std::int64_t>>& ladders, std::size_t most) {
  std::size_t size = 1;
  for (const auto& steps : ladders) {
    size *= steps.size();
    if (size > most) return true;
  }
  return false;
}

/// Every combination of the steps, in order.
std::vector<ShapePoint> grid_of(const std::vector<std::vector<std::int64_t>>& ladders) {
  std::vector<ShapePoint> points = {{}};
  for (const auto& steps : ladders) {
    std::vector<ShapePoint> longer;
    for (const ShapePoint& point : points)
      for (const std::int64_t step : steps) {
        longer.push_back(point);
        longer.back().push_back(step);
      }
    points = std::move(longer);
  }
  return points;
}

/// Ladders of which the longest has been thinned until their grid is small enough: with many dimensions some keep their
/// upper end only.
std::vector<std::vector<std::int64_t>> ladders_of(const ShapeDomain& domain, std::size_t most) {
  std::vector<std::vector<std::int64_t>> ladders;
  for (const DimensionRange& range : domain.dimensions) ladders.push_back(ladder(range, most));
  while (is_larger(ladders, most)) {
    const auto longest = std::ranges::max_element(ladders, {}, &std::vector<std::int64_t>::size);
    if (longest->size() <= 2)
      longest->erase(longest->begin());
    else
      *longest = thinned(*longest, longest->size() - 1);
  }
  return ladders;
}

}  // namespace

Result<ShapeSample> parse_sample(const ShapeDomain& domain, const std::string& text) {
  ShapeSample sample{.point = {}, .is_asked = true};
  std::string extents = text;
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos) {
    COLLAGE_TRY(sample.weight, weight_in(text.substr(colon + 1), text));
    extents = text.substr(0, colon);
  }
  std::map<std::string, std::int64_t> named;
  for (std::size_t from = 0; from <= extents.size();) {
    const std::size_t comma = std::min(extents.find(',', from), extents.size());
    const std::string part = extents.substr(from, comma - from);
    const std::size_t equals = part.rfind('=');
    if (equals == std::string::npos || equals == 0) return malformed(text);
    const auto extent = parse_extent(part.substr(0, equals), part.substr(equals + 1));
    if (!extent) return malformed(text);
    if (!named.emplace(part.substr(0, equals), *extent).second)
      return fail(ExitCode::kUsage, "shape/twice", "--at " + text, part.substr(0, equals),
                  "one extent for a dimension");
    from = comma + 1;
  }
  COLLAGE_TRY(sample.point, point_of(domain, named));
  return sample;
}

std::vector<std::int64_t> ladder(const DimensionRange& range, std::size_t most) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = range.low; step < range.high; step = std::max<std::int64_t>(1, step * 2)) {
    steps.push_back(step);
    if (step > range.high / 2) break;
  }
  steps.push_back(range.high);
  return thinned(steps, std::max<std::size_t>(2, most));
}

std::vector<ShapeSample> choose_samples(const ShapeDomain& domain, const std::vector<ShapeSample>& asked,
                                        std::size_t most) {
  std::map<ShapePoint, ShapeSample> samples;
  for (ShapePoint& point : grid_of(ladders_of(domain, most))) samples[point] = {.point = point};
  for (const ShapeSample& sample : asked) samples[sample.point] = sample;
  std::vector<ShapeSample> chosen;
  for (auto& [point, sample] : samples) chosen.push_back(std::move(sample));
  return chosen;
}

std::optional<ShapePoint> halfway(const ShapePoint& a, const ShapePoint& b) {
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  if (in_a == a.end() || !std::ranges::equal(std::next(in_a), a.end(), std::next(in_b), b.end())) return std::nullopt;
  if (std::abs(*in_a - *in_b) < 2) return std::nullopt;
  ShapePoint middle = a;
  middle[static_cast<std::size_t>(in_a - a.begin())] = std::min(*in_a, *in_b) + std::abs(*in_a - *in_b) / 2;
  return middle;
}

}  // namespace collage
