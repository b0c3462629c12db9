#include "api/tune/recheck_verdict.h"

#include <algorithm>

namespace collage {
namespace {

/// The ratio at which half of the old time lies below.
double weighted_median_ratio(std::vector<PartTime> parts) {
  std::ranges::sort(parts, {}, &PartTime::ratio);
  double total = 0;
  for (const PartTime& part : parts) total += static_cast<double>(part.then_ns);
  double below = 0;
  for (const PartTime& part : parts) {
    below += static_cast<double>(part.then_ns);
    if (below >= total / 2) return part.ratio();
  }
  return 1;
}

}  // namespace

std::string_view name_of(Fitness fitness) {
  switch (fitness) {
    case Fitness::kSame:
      return "same";
    case Fitness::kUsable:
      return "usable";
    case Fitness::kRetune:
      return "re-tune";
    case Fitness::kRefused:
      return "refused";
  }
  return "";
}

TimesVerdict judge_times(const std::vector<PartTime>& parts) {
  TimesVerdict verdict;
  if (parts.empty()) return verdict;
  verdict.speed = weighted_median_ratio(parts);
  double now = 0;
  double lost = 0;
  for (const PartTime& part : parts) {
    const double in_step = verdict.speed * static_cast<double>(part.then_ns);
    now += static_cast<double>(part.now_ns);
    // What is within the noise of the others did not fall behind.
    if (static_cast<double>(part.now_ns) > (1 + kSameShare) * in_step)
      lost += static_cast<double>(part.now_ns) - in_step;
  }
  verdict.lost = lost / now;
  const bool is_slower = std::ranges::any_of(parts, [](const PartTime& part) { return part.ratio() > 1 + kSameShare; });
  verdict.fitness = verdict.lost > kLostShare ? Fitness::kRetune : is_slower ? Fitness::kUsable : Fitness::kSame;
  return verdict;
}

}  // namespace collage
