// Judges a plan by new times of its parts.
// In:  the time of each part when the plan was made, and its time now. Out: a verdict.
// How: each part is compared with the plan as a whole. If the machine is slower in general, no other choice becomes
//       better; but a part that became slower than the others may run faster on another backend.
// Example: parts of 30, 30 and 20 us take 60, 60 and 80 us here. The machine is 2 times slower in general; the last
// part lost 40 us beyond that, 20 % of the total of 200 us, so a new tune is recommended.
// Not here: measuring (recheck.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace collage {

/// From best to worst.
enum class Fitness : std::uint8_t {
  kSame,    ///< no part is slower than before, within the noise
  kUsable,  ///< right, some parts are slower: the plan can stay in use
  kRetune,  ///< other choices are likely to be better here
  kRefused  ///< must not or cannot run here
};

/// "same", "usable", "re-tune" or "refused".
[[nodiscard]] std::string_view name_of(Fitness fitness);

/// Times may differ by this much and count as the same.
inline constexpr double kSameShare = 0.10;
/// If parts became slower than the others by more than this share of the plan's time, a new tune is recommended.
inline constexpr double kLostShare = 0.15;

/// Nanoseconds, those of a quiet moment; both above 0.
struct PartTime {
  std::int64_t then_ns = 0;
  std::int64_t now_ns = 0;
  [[nodiscard]] double ratio() const { return static_cast<double>(now_ns) / static_cast<double>(then_ns); }
};

struct TimesVerdict {
  Fitness fitness = Fitness::kSame;
  double speed = 1;  ///< the time of the parts in general, now over then: the median of their ratios, weighted by time
  double lost = 0;   ///< share of the present time by which parts are slower than that
};

/// kSame, kUsable or kRetune; kSame for no parts.
[[nodiscard]] TimesVerdict judge_times(const std::vector<PartTime>& parts);

}  // namespace collage
