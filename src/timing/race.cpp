#include "timing/race.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "base/clock.h"
#include "timing/sample_clock.h"

namespace collage {
namespace {

/// Of one run.
Result<std::int64_t> time_once(const Contender& contender) {
  if (contender.timed_elsewhere) return contender.timed_elsewhere(1);
  COLLAGE_TRY(const BatchTime once, SampleClock({}).time(contender.run, 1));
  return once.elapsed_ns;
}

struct Repeats {
  int untimed = 1;
  int timed = 1;
  std::int64_t run_ns = 0;  ///< of the run that told
};

/// A part of a run that is less than this does not show in a sample.
constexpr double kUnseen = 0.02;
/// What is cold in a first run takes at least so many nanoseconds to warm up.
constexpr std::int64_t kLeastHeat = 1'000'000;

/// Whether it does not show that nothing ran before.
bool is_long(std::int64_t run_ns, const RaceOptions& options) {
  return static_cast<double>(std::max(options.heat_ns, kLeastHeat)) < kUnseen * static_cast<double>(run_ns);
}

/// Of a first run, which may be cold, what every run certainly takes.
std::int64_t warm_part(std::int64_t first_ns) { return first_ns / 2; }

/// Whether one run heats, and one is a sample, though nobody knows exactly how long it takes.
bool is_enough(std::int64_t least_ns, const RaceOptions& options) {
  return least_ns >= std::max({options.heat_ns, kLeastHeat, options.min_sample_ns});
}

/// Finds how many runs heating and one sample need; where that is not known without, warms up.
Result<Repeats> calibrate(const Contender& contender, const RaceOptions& options) {
  std::int64_t once = contender.ran_ns;
  const bool is_known =
      is_long(warm_part(once), options) || (is_enough(warm_part(once), options) && !is_long(once, options));
  if (!is_known) {
    COLLAGE_TRY(once, time_once(contender));
  }
  if (!is_long(once, options) && !is_enough(warm_part(once), options)) {
    if (options.heat_ns > 0) COLLAGE_TRY_VOID(contender.run());
    COLLAGE_TRY(once, time_once(contender));
  }
  const auto runs_in = [&](std::int64_t ns) {
    return static_cast<int>(std::clamp<std::int64_t>(ns / std::max<std::int64_t>(once, 1), 1, 1000));
  };
  return Repeats{.untimed = options.heat_ns <= 0 || is_long(once, options) ? 0 : runs_in(options.heat_ns),
                 .timed = runs_in(options.min_sample_ns),
                 .run_ns = once};
}

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
  for (std::size_t i = 0; i < slowness.size() && i < sorted.size(); ++i)
    sorted[i] = std::llround(static_cast<double>(sorted[i]) / slowness[i]);
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

Verdict verdict_of(const RaceLane& a, const RaceLane& b, const PairedTestOptions& options) {
  PairedTest test(options);
  for (std::size_t i = 0; i < std::min(a.samples_ns.size(), b.samples_ns.size()); ++i)
    test.add(static_cast<double>(a.samples_ns[i]), static_cast<double>(b.samples_ns[i]));
  return test.verdict();
}

Verdict likely_verdict(const RaceLane& a, const RaceLane& b, const PairedTestOptions& options) {
  const Verdict decided = verdict_of(a, b, options);
  const std::size_t rounds = std::min(a.samples_ns.size(), b.samples_ns.size());
  if (decided != Verdict::kUnsure || rounds < kFewestRounds) return decided;
  const Ratio ratio = paired_ratio(b, a);
  if (ratio.low > kFarBehind) return Verdict::kFaster;
  if (ratio.high < 1 / kFarBehind) return Verdict::kSlower;
  if (rounds < kIntervalRounds) return decided;
  if (ratio.low > std::exp(options.margin)) return Verdict::kFaster;
  if (ratio.high < std::exp(-options.margin)) return Verdict::kSlower;
  const bool is_same = ratio.low > std::exp(-options.same) && ratio.high < std::exp(options.same);
  return is_same ? Verdict::kSame : Verdict::kUnsure;
}

namespace {

class Race {
 public:
  Race(const std::vector<Contender>& contenders, const RaceOptions& options)
      : contenders_(contenders),
        options_(options),
        clock_({.slowness = options.slowness, .threads = options.threads, .noise = &noise_, .smt = &smt_}),
        random_(options.seed) {}

  Result<std::vector<RaceLane>> run() {
    for (const Contender& contender : contenders_) {
      COLLAGE_TRY(const Repeats count, calibrate(contender, options_));
      repeats_.push_back(count);
      lanes_.push_back({.name = contender.name, .samples_ns = {}});
      live_.push_back(live_.size());
    }
    const auto start = Clock::now();
    const auto elapsed_s = [&start] { return Seconds(Clock::now() - start).count(); };
    while (!live_.empty() && kept_ < options_.max_rounds) {
      const double elapsed = elapsed_s();
      if (kept_ >= options_.min_rounds && elapsed > options_.seconds) break;
      if (options_.most_seconds > 0 && kept_ >= kFewestRounds && elapsed > options_.most_seconds) break;
      if (options_.stop.stop_requested() && kept_ > 0) break;
      COLLAGE_TRY(const bool is_long, run_round());
      const LongRounds& rules = options_.long_rounds;
      if (is_long && rules.enough > 0 && kept_ >= rules.enough) break;
      if (options_.decided_rounds == 0) continue;
      const double hopeless = is_long ? rules.hopeless_ratio : options_.hopeless_ratio;
      if (kept_ == 1 && hopeless > 0) {
        const bool is_late = options_.most_seconds > 0 && elapsed_s() > options_.most_seconds;
        retire_far_behind(is_late ? std::min(hopeless, kFarBehind) : hopeless);
      }
      if (kept_ >= kFewestRounds) retire_hopeless();
      if (kept_ >= options_.decided_rounds && settle()) break;
    }
    return std::move(lanes_);
  }

 private:
  /// Rounds between two renewals of the buffers: often enough for several in the shortest race.
  static constexpr std::size_t kRenewal = 4;
  /// More disturbed rounds than this share are kept: on a machine that is never quiet, pairing has to do.
  static constexpr double kMostDiscarded = 0.3;

  /// Whether it was a long one.
  Result<bool> run_round() {
    const auto begin = Clock::now();
    if (kept_ % kRenewal == kRenewal - 1)
      for (const std::size_t i : live_)
        if (contenders_[i].renew) contenders_[i].renew();
    std::vector<std::size_t> order = live_;
    shuffle(order, random_);
    std::vector<Sample> samples(lanes_.size());
    bool disturbed = false;
    for (const std::size_t i : order) COLLAGE_TRY_VOID(take_sample(i, samples[i], disturbed));
    const double long_s = options_.long_rounds.seconds;
    const bool is_long = long_s > 0 && Seconds(Clock::now() - begin).count() > long_s;
    if (disturbed && options_.discards_disturbed && !is_long &&
        static_cast<double>(discarded_) < kMostDiscarded * static_cast<double>(discarded_ + kept_ + 1)) {
      ++discarded_;
      return false;
    }
    for (const std::size_t i : live_) {
      lanes_[i].samples_ns.push_back(samples[i].ns);
      if (options_.slowness) lanes_[i].slowness.push_back(samples[i].slowness);
    }
    ++kept_;
    return is_long;
  }

  struct Sample {
    std::int64_t ns = 0;
    double slowness = 1;
  };

  /// Untimed runs.
  Result<void> heat(std::size_t i) {
    if (contenders_[i].timed_elsewhere && repeats_[i].untimed > 0)
      COLLAGE_TRY_VOID(contenders_[i].timed_elsewhere(repeats_[i].untimed));
    if (!contenders_[i].timed_elsewhere)
      for (int run = 0; run < repeats_[i].untimed; ++run) COLLAGE_TRY_VOID(contenders_[i].run());
    return {};
  }

  Result<void> take_sample(std::size_t i, Sample& sample, bool& disturbed) {
    COLLAGE_TRY_VOID(heat(i));
    const double before = clock_.slowness();
    const Contender& contender = contenders_[i];
    COLLAGE_TRY(const BatchTime batch, contender.timed_elsewhere
                                           ? clock_.time_elsewhere(contender.timed_elsewhere, repeats_[i].timed)
                                           : clock_.time(contender.run, repeats_[i].timed));
    disturbed |= batch.disturbed;
    sample = {.ns = std::max<std::int64_t>(1, batch.elapsed_ns / repeats_[i].timed),
              .slowness = (before + clock_.slowness()) / 2};
    return {};
  }

  [[nodiscard]] const RaceLane& best_lane() const {
    return lanes_[*std::ranges::min_element(live_, {}, [&](std::size_t i) { return lanes_[i].median_ns(); })];
  }

  /// Those all of whose runs took much longer than all of the best's.
  void retire_far_behind(double hopeless_ratio) {
    const auto ends = [&](std::size_t i) { return std::minmax(repeats_[i].run_ns, lanes_[i].samples_ns.front()); };
    const auto best = static_cast<std::size_t>(&best_lane() - lanes_.data());
    const double most = hopeless_ratio * static_cast<double>(ends(best).second);
    std::erase_if(live_, [&](std::size_t i) { return i != best && static_cast<double>(ends(i).first) > most; });
  }

  /// Those that no interval favours.
  void retire_hopeless() {
    const RaceLane& best = best_lane();
    const double least = kept_ < kIntervalRounds ? kFarBehind : options_.beaten_ratio;
    std::erase_if(live_,
                  [&](std::size_t i) { return &lanes_[i] != &best && paired_ratio(lanes_[i], best).low > least; });
  }

  /// Retires the beaten; true when every other lane is told apart from the best or is the same.
  bool settle() {
    const RaceLane& best = best_lane();
    bool all_decided = true;
    std::erase_if(live_, [&](std::size_t i) {
      if (&lanes_[i] == &best) return false;
      const Verdict verdict = verdict_of(best, lanes_[i], options_.test);
      all_decided &= verdict != Verdict::kUnsure;
      return verdict == Verdict::kFaster && median_ratio(lanes_[i], best) > options_.beaten_ratio;
    });
    return all_decided;
  }

  const std::vector<Contender>& contenders_;
  const RaceOptions& options_;
  NoiseWatch noise_;
  SmtWatch smt_;
  SampleClock clock_;
  std::mt19937_64 random_;
  std::vector<Repeats> repeats_;
  std::vector<RaceLane> lanes_;
  std::vector<std::size_t> live_;
  std::size_t kept_ = 0;       ///< rounds
  std::size_t discarded_ = 0;  ///< likewise
};

}  // namespace

Result<std::vector<RaceLane>> race(const std::vector<Contender>& contenders, const RaceOptions& options) {
  return Race(contenders, options).run();
}

}  // namespace collage
