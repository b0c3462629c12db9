// What a plan stores about the tune that made it: bounds, the plans it was timed against, and the explanation.
// In:  made by a tune. Out: part of the plan; its JSON form is in plan/file/plan_report_json.h.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/explain/explanation.h"

namespace collage {

/// The search behind the plan; microseconds.
struct SearchReport {
  double cover_us = 0;         ///< cost of the best cover under the cost table
  double model_bound_us = 0;   ///< no cover costs less under the cost table
  double proven_bound_us = 0;  ///< no cover costs less, whatever was not measured
  double measured_us = 0;      ///< of what ships, end to end
  std::size_t candidates = 0;
  bool operator==(const SearchReport&) const = default;
};

/// How many times faster one plan is than another, from rounds in turns; [low, high] holds it with 95 % confidence.
struct FasterBy {
  double ratio = 1;
  double low = 1;
  double high = 1;
  bool operator==(const FasterBy&) const = default;
};

/// Another plan that was timed end to end.
struct TimedPlan {
  std::string name;                               ///< for people: "ENGINE as a whole", "mixed without A"
  double us = 0;                                  ///< in its last contest; times of different contests compare badly
  std::optional<FasterBy> faster = std::nullopt;  ///< what ships against it; nothing after too few rounds together
  bool is_engine = false;                         ///< runs the whole model
  bool operator==(const TimedPlan&) const = default;
};

struct PlanReport {
  SearchReport search;
  std::map<std::string, double> rivals;  ///< the same plans by their names in JSON -> microseconds
  std::vector<TimedPlan> plans;
  std::optional<Explanation> explanation = std::nullopt;
  bool operator==(const PlanReport&) const = default;
};

}  // namespace collage
