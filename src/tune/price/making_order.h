// The order in which candidates are sampled, and how many at once, where kernels take long to make.
// In:  candidates of a cover; a cover of steps that are made at once; the time for samples, and what making took so
//       far. Out: the candidates, those first that should save most in place of those steps; chunks of them.
// How: where the cover that is expected to be best cannot be made in time, a part of the time is for kernels of it that
//       save much. The rest of the time is for steps that are made at once: from then on it is late.
// Not here: what is sampled (lazy_pricing.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tune/price/covers.h"
#include "tune/price/lazy_costs.h"
#include "tune/price/lazy_pricing.h"
#include "tune/price/making_pace.h"

namespace collage {

/// Candidates to ask for. Where not all that are made slowly are asked for at once, these come first.
struct Wanted {
  std::vector<std::size_t> candidates;
  std::size_t worth_making = 0;  ///< of the first of them: they should save so much that they are made in little time
};

class MakingOrder {
 public:
  /// Both outlive it.
  MakingOrder(const LazyCosts& costs, const LazyMeasuring& measuring) : costs_(costs), measuring_(measuring) {}

  /// Between these, the cover that is expected to be best is sampled for the first time.
  void begin_first_cover();
  void end_first_cover() { first_cover_ = FirstCover::kNone; }
  /// Whether what is left of that cover is to be of steps that are made at once.
  [[nodiscard]] bool is_late() const { return first_cover_ == FirstCover::kLate; }

  /// Whether these are asked for in several chunks.
  [[nodiscard]] bool matters(std::span<const std::size_t> candidates) const;
  /// In the order of what they should save in covers `hoped`, which use them, in place of the steps of `quick`, which
  /// are made at once. `best_ns` is the time of the best cover.
  [[nodiscard]] Wanted in_order(const std::vector<std::size_t>& candidates, const Cover& quick,
                                const std::vector<NamedCover>& hoped, std::int64_t best_ns) const;
  /// What is asked for at once, of what is left: `worth_making` of these are left too. Nothing where it gets too late
  /// for those that are made slowly.
  [[nodiscard]] std::span<const std::size_t> next_chunk(std::span<const std::size_t> rest, std::size_t worth_making);
  /// How many of these nothing is known of and take long to make.
  [[nodiscard]] std::size_t slow_among(std::span<const std::size_t> candidates) const;
  /// Making and sampling so many of those took so many seconds.
  void learn(std::size_t slow, double seconds) { pace_.learn(slow, seconds); }

 private:
  /// Whether the cover that is expected to be best is being sampled for the first time, and whether there is time to
  /// make its kernels.
  enum class FirstCover : std::uint8_t { kNone, kInTime, kLate };

  [[nodiscard]] bool is_too_much(std::span<const std::size_t> rest) const;
  [[nodiscard]] std::span<const std::size_t> made_in(double seconds, std::span<const std::size_t> next) const;

  const LazyCosts& costs_;
  const LazyMeasuring& measuring_;
  FirstCover first_cover_ = FirstCover::kNone;
  double sampling_s_ = 0;  ///< for all samples
  MakingPace pace_;
};

}  // namespace collage
