#include "timing/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

namespace collage {
namespace {

/// Disturbed samples of one contender that are taken again; on a machine that is never quiet the rest has to do.
constexpr std::size_t kMostDiscarded = 3;
/// The processor's speed may change by this share in a sample.
constexpr double kMostChange = 0.1;

struct Lane {
  std::int64_t batch = 1;
  std::vector<std::int64_t> samples;  ///< nanoseconds of one call
  std::vector<std::int64_t> alone;    ///< those on a core that was not shared
  std::int64_t total_ns = 0;
  std::int64_t each_ns = 0;        ///< of one call, from the warm-up
  std::int64_t preparing_ns = 0;   ///< before the last call
  bool disturbed = false;          ///< the last batch
  CoreUse core = CoreUse::kAlone;  ///< likewise
  bool is_elsewhere = false;       ///< the last batch was timed by another clock
  std::size_t discarded = 0;
  bool done = false;
  std::optional<Error> error;
};

class Sampler {
 public:
  Sampler(std::size_t contenders, const SamplingSubject& subject, const SamplingOptions& options)
      : subject_(subject),
        options_(options),
        clock_({.now_ns = subject.now_ns,
                .slowness = subject.slowness,
                .threads = subject.threads,
                .noise = subject.noise,
                .smt = subject.smt}),
        lanes_(contenders),
        random_(options.seed) {}

  std::vector<Result<Timing>> run() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) warm_up(i);
    for (std::size_t round = 1; run_round(); ++round)
      if (round >= options_.drop_rounds) drop_slow();
    std::vector<Result<Timing>> results;
    for (Lane& lane : lanes_) {
      if (lane.error) {
        results.emplace_back(std::unexpected(*lane.error));
      } else {
        if (lane.alone.size() >= options_.few_samples) lane.samples = std::move(lane.alone);
        const Measured summary = summarise(lane.samples);
        results.emplace_back(Timing{.summary = summary, .samples_ns = std::move(lane.samples)});
      }
    }
    return results;
  }

 private:
  static void give_up(Lane& lane, const Error& error) {
    lane.error = error;
    lane.done = true;
  }

  bool call(std::size_t i) {
    const auto ran = subject_.run(i);
    if (!ran) give_up(lanes_[i], ran.error());
    return ran.has_value();
  }

  /// What comes before a sample, untimed; false when a call failed.
  bool prepare(std::size_t i) {
    Lane& lane = lanes_[i];
    if (!subject_.prepare) return lane.each_ns >= options_.touch_ns || call(i);
    const std::int64_t begin = clock_.now_ns();
    subject_.prepare(i);
    lane.preparing_ns = clock_.now_ns() - begin;
    return true;
  }

  /// Nanoseconds of a whole batch; nothing when a call failed.
  std::optional<std::int64_t> time_batch(std::size_t i, bool is_sample) {
    Lane& lane = lanes_[i];
    if (subject_.before) subject_.before(i);
    if (is_sample && !prepare(i)) return std::nullopt;
    const auto batch = time_calls(i);
    if (!batch) {
      give_up(lane, batch.error());
      return std::nullopt;
    }
    lane.disturbed = batch->disturbed || batch->core == CoreUse::kChanged;
    lane.core = batch->core;
    return batch->elapsed_ns;
  }

  Result<BatchTime> time_calls(std::size_t i) {
    Lane& lane = lanes_[i];
    auto elsewhere = subject_.timed_elsewhere ? subject_.timed_elsewhere(i, lane.batch) : std::nullopt;
    lane.is_elsewhere = elsewhere.has_value();
    if (!elsewhere) return clock_.time([&] { return subject_.run(i); }, lane.batch);
    COLLAGE_TRY(const std::int64_t elapsed_ns, *std::move(elsewhere));
    return BatchTime{.elapsed_ns = std::max<std::int64_t>(1, elapsed_ns)};
  }

  /// Batches grow until one is long enough, then repeat until two agree or the time for it is used up.
  void warm_up(std::size_t i) {
    Lane& lane = lanes_[i];
    std::int64_t spent = 0;
    std::int64_t calls = 0;
    double previous = 0;
    for (;;) {
      const auto elapsed = time_batch(i, false);
      if (!elapsed) return;
      spent += *elapsed;
      calls += lane.batch;
      const double each = static_cast<double>(*elapsed) / static_cast<double>(lane.batch);
      const bool agrees = previous > 0 && std::abs(each - previous) <= options_.warm_agreement * previous;
      const bool long_enough = subject_.prepare || *elapsed >= options_.min_sample_ns;
      lane.each_ns = static_cast<std::int64_t>(each);
      if (calls >= 2 && long_enough && (agrees || spent >= options_.warm_up_ns)) return;
      if (!long_enough) lane.batch = grown(lane.batch, each);
      previous = each;
    }
  }

  /// Enough calls for a sample, a little more than needed, at most eight times as many as before: the first calls of
  /// a kernel are slow and say little.
  [[nodiscard]] std::int64_t grown(std::int64_t batch, double each_ns) const {
    const auto needed =
        static_cast<std::int64_t>(std::ceil(1.2 * static_cast<double>(options_.min_sample_ns) / each_ns));
    return std::clamp(needed, batch + 1, batch * 8);
  }

  /// One sample of every live contender; false when none is left.
  bool run_round() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      if (!lanes_[i].done) order.push_back(i);
    shuffle(order, random_);
    for (const std::size_t i : order) take_sample(i);
    return !order.empty();
  }

  void take_sample(std::size_t i) {
    Lane& lane = lanes_[i];
    const double before = clock_.slowness();
    const auto elapsed = time_batch(i, true);
    if (!elapsed) return;
    const double after = clock_.slowness();
    // Two looks that differ say that neither is true of the sample.
    lane.disturbed |= subject_.noise != nullptr && !lane.is_elsewhere &&
                      std::abs(after - before) > kMostChange * std::min(before, after);
    if (lane.disturbed && lane.discarded < kMostDiscarded) {
      ++lane.discarded;
      lane.total_ns += *elapsed + lane.preparing_ns;
      return;
    }
    const double quiet_ns = lane.is_elsewhere ? static_cast<double>(*elapsed) : in_quiet(*elapsed, before, after);
    lane.samples.push_back(std::max<std::int64_t>(1, std::llround(quiet_ns / static_cast<double>(lane.batch))));
    if (lane.core == CoreUse::kAlone) lane.alone.push_back(lane.samples.back());
    lane.total_ns += *elapsed + lane.preparing_ns;
    const std::size_t count = lane.samples.size();
    const bool is_dear = lane.total_ns >= options_.long_total_ns || (lane.preparing_ns > *elapsed && agrees(lane));
    lane.done = (count >= options_.min_samples && lane.total_ns >= options_.min_total_ns) ||
                (count >= options_.few_samples && is_dear);
  }

  [[nodiscard]] bool agrees(const Lane& lane) const {
    const Measured summary = summarise(lane.samples);
    return static_cast<double>(summary.high_ns - summary.low_ns) <=
           options_.few_agreement * static_cast<double>(summary.median_ns);
  }

  /// Of contenders without a sample yet, because all were disturbed, nothing can be said.
  void drop_slow() {
    std::int64_t best = 0;
    for (const Lane& lane : lanes_)
      if (!lane.error && !lane.samples.empty()) best = best == 0 ? median(lane) : std::min(best, median(lane));
    for (Lane& lane : lanes_)
      if (!lane.done && !lane.samples.empty() &&
          static_cast<double>(median(lane)) > options_.drop_ratio * static_cast<double>(best))
        lane.done = true;
  }

  static std::int64_t median(const Lane& lane) { return summarise(lane.samples).median_ns; }

  const SamplingSubject& subject_;
  const SamplingOptions& options_;
  SampleClock clock_;
  std::vector<Lane> lanes_;
  std::mt19937_64 random_;
};

}  // namespace

SamplingOptions quick_sampling() {
  return {.warm_up_ns = 20'000'000, .min_total_ns = 4'000'000, .long_total_ns = 200'000'000};
}

SamplingOptions short_sampling() {
  return {.warm_up_ns = 2'000'000, .min_samples = 3, .min_total_ns = 0, .few_samples = 2, .long_total_ns = 20'000'000};
}

std::vector<Result<Timing>> sample_all(std::size_t contenders, const SamplingSubject& subject,
                                       const SamplingOptions& options) {
  return Sampler(contenders, subject, options).run();
}

Measured summarise(std::vector<std::int64_t> samples_ns) {
  COLLAGE_CHECK(!samples_ns.empty(), "no samples");
  std::ranges::sort(samples_ns);
  const std::size_t last = samples_ns.size() - 1;
  return {.median_ns = samples_ns[last / 2],
          .low_ns = samples_ns[last / 4],
          .high_ns = samples_ns[last - last / 4],
          .samples = static_cast<std::int32_t>(samples_ns.size())};
}

}  // namespace collage
