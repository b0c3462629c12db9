#include "tune/race.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

#include "measure/sampling.h"

namespace collage {
namespace {

using Clock = std::chrono::steady_clock;

Result<std::int64_t> time_once(const Contender& contender, int repeats) {
  const auto start = Clock::now();
  for (int i = 0; i < repeats; ++i) COLLAGE_TRY_VOID(contender.run());
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count() / repeats;
}

struct Repeats {
  int untimed = 1;
  int timed = 1;
};

/// Warms up and finds how many runs heating and one sample need.
Result<Repeats> calibrate(const Contender& contender, const RaceOptions& options) {
  COLLAGE_TRY_VOID(time_once(contender, 1));
  COLLAGE_TRY_VOID(time_once(contender, 1));
  COLLAGE_TRY(const std::int64_t once, time_once(contender, 1));
  const auto runs_in = [&](std::int64_t ns) {
    return static_cast<int>(std::clamp<std::int64_t>(ns / std::max<std::int64_t>(once, 1), 1, 1000));
  };
  return Repeats{.untimed = runs_in(options.heat_ns), .timed = runs_in(options.min_sample_ns)};
}

double slowness_of(const RaceOptions& options) { return options.slowness ? options.slowness() : 1.0; }

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// By round.
std::vector<double> log_ratios(const RaceLane& slow, const RaceLane& fast) {
  std::vector<double> logs(std::min(slow.samples_ns.size(), fast.samples_ns.size()));
  for (std::size_t i = 0; i < logs.size(); ++i)
    logs[i] = std::log(static_cast<double>(slow.samples_ns[i]) / static_cast<double>(fast.samples_ns[i]));
  return logs;
}

}  // namespace

std::int64_t RaceLane::quantile_ns(double q) const {
  if (samples_ns.empty()) return 0;
  std::vector<std::int64_t> sorted = samples_ns;
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(sorted.size() - 1) + 0.5);
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
  return sorted[static_cast<std::size_t>(at)];
}

std::int64_t RaceLane::median_ns() const { return quantile_ns(0.5); }

double median_ratio(const RaceLane& slow, const RaceLane& fast) {
  const std::vector<double> logs = log_ratios(slow, fast);
  return logs.empty() ? 1 : std::exp(median_of(logs));
}

Ratio paired_ratio(const RaceLane& slow, const RaceLane& fast) {
  const std::vector<double> logs = log_ratios(slow, fast);
  const std::size_t n = logs.size();
  if (n == 0) return {};
  std::mt19937_64 random(n);
  std::vector<double> medians(400);
  std::vector<double> resampled(n);
  for (double& m : medians) {
    for (double& value : resampled) value = logs[random() % n];
    m = median_of(resampled);
  }
  std::sort(medians.begin(), medians.end());
  return {.ratio = std::exp(median_of(logs)), .low = std::exp(medians[10]), .high = std::exp(medians[389])};
}

Result<std::vector<RaceLane>> race(const std::vector<Contender>& contenders, const RaceOptions& options) {
  std::vector<Repeats> repeats;
  std::vector<RaceLane> lanes;
  for (const Contender& contender : contenders) {
    COLLAGE_TRY(const Repeats count, calibrate(contender, options));
    repeats.push_back(count);
    lanes.push_back({.name = contender.name, .samples_ns = {}});
  }
  std::mt19937_64 random(options.seed);
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto start = Clock::now();
  for (std::size_t round = 0; round < options.max_rounds; ++round) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    if (round >= options.min_rounds && elapsed > options.seconds) break;
    if (options.stop.stop_requested() && round > 0) break;
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t i : order) {
      COLLAGE_TRY_VOID(time_once(contenders[i], repeats[i].untimed));
      const double before = slowness_of(options);
      COLLAGE_TRY(const std::int64_t sample, time_once(contenders[i], repeats[i].timed));
      const double quiet_ns = in_quiet(sample, before, slowness_of(options));
      lanes[i].samples_ns.push_back(std::max<std::int64_t>(1, std::llround(quiet_ns)));
    }
  }
  return lanes;
}

}  // namespace collage
