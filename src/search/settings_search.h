// An evolutionary search over the settings of one implementation for one region: proposes what to measure next.
// In:  a space of settings, times as they are measured. Out: settings, each proposed once.
// How: first the seeds (best by the backend's cost model, best for similar shapes), then children of the fastest
//       settings: two are crossed or one is copied, and one or two choices change, mostly to a neighbouring value. Some
//       settings are drawn at random, so that a distant optimum can be found. When all children are known, the
//       remaining settings are enumerated. The same space, seed and times give the same proposals.
// Cost: a proposal takes some legality tests; enumeration at most one for each setting.
// Not here: which region is worth tuning (tune/schedules/schedule_tuning.h), measuring.
// Source: evolutionary search of Ansor (Zheng et al., OSDI 2020), without a learnt model, because the space is small.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backend/strategy.h"
#include "base/random.h"

namespace collage {

class SettingsSearch {
 public:
  SettingsSearch(TuningSpace space, std::uint64_t seed);

  /// Proposed before the backend's own, in the order of the calls; ignored when illegal or known.
  void add_seed(const Settings& settings);
  /// A time in nanoseconds, or nothing for what does not work.
  void learn(const Settings& settings, std::optional<std::int64_t> ns);
  /// At most `count` that were neither proposed nor learnt before; fewer when there are no more.
  [[nodiscard]] std::vector<Settings> next(std::size_t count);

  [[nodiscard]] const TuningSpace& space() const { return space_; }

 private:
  [[nodiscard]] bool take(const Settings& settings);
  [[nodiscard]] std::optional<Settings> seeded();
  [[nodiscard]] std::optional<Settings> bred();
  [[nodiscard]] std::optional<Settings> left_over();
  [[nodiscard]] Settings child();
  [[nodiscard]] Settings drawn();
  [[nodiscard]] const Settings& parent();
  void move(Settings& settings, std::size_t choice);

  TuningSpace space_;
  Random random_;
  std::vector<Settings> seeds_;  ///< in the order in which they are proposed
  std::size_t next_seed_ = 0;
  std::size_t first_own_ = 0;  ///< the backend's own seeds begin here
  std::set<Settings> known_;   ///< proposed or learnt
  std::set<std::pair<std::int64_t, Settings>> timed_;
  std::vector<std::size_t> walked_;  ///< where the walk through the space stands, by choice
  bool is_walked_ = false;
};

}  // namespace collage
