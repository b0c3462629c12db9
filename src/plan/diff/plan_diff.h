// Two plans of one model side by side: which parts of the graph run otherwise, and the time that this gains or loses.
// In:  two plans. Out: a PlanDiff; its text for people and JSON for tools (schema "collage.diff/1").
// How: nodes are matched by name. A part is the smallest set of nodes that both plans compute in steps of their own.
//      Times are those of the steps measured alone, each on the machine of its plan. What has no nodes (conversions,
//      copies, transfers) belongs to no part and is added up. Steps of bodies count with the operator around them.
// Cost: linear in the steps.
// Not here: why a plan is what it is (plan/explain/explain.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "plan/plan.h"

namespace collage {

/// What one plan does in a part, or in all conversions.
struct DiffSide {
  std::vector<std::size_t> steps;               ///< of the plan, ascending
  std::vector<std::string> who;                 ///< "backend/variant" of each
  std::vector<std::vector<std::string>> nodes;  ///< that each computes for everybody
  double us = 0;                                ///< of all, each alone
  bool estimated = false;                       ///< the time of one of them is an estimate
  bool is_priced = true;                        ///< false: of one of them the plan has no time, as of a whole engine
};

struct DiffPart {
  std::vector<std::string> nodes;  ///< in the order of the first plan
  DiffSide a, b;
  bool differs = false;  ///< in a backend, a variant, or how the nodes are cut into steps

  /// What B takes longer; nothing when a side is not priced.
  [[nodiscard]] std::optional<double> more_us() const {
    return a.is_priced && b.is_priced ? std::optional(b.us - a.us) : std::nullopt;
  }
};

/// A plan as it is called here.
struct DiffedPlan {
  std::string name;  ///< its file
  const Plan* plan = nullptr;
};

struct PlanDiff {
  DiffedPlan a, b;
  std::vector<DiffPart>
      parts;  ///< those that differ first, by how much, then the others in the order of the first plan
  DiffSide conversions_a, conversions_b;
  std::vector<std::string> only_in_a;  ///< nodes that the other plan does not have
  std::vector<std::string> only_in_b;
};

/// Error plan/nothing-in-common when no node of one is a node of the other.
[[nodiscard]] Result<PlanDiff> diff_plans(const DiffedPlan& a, const DiffedPlan& b);

[[nodiscard]] std::string to_text(const PlanDiff& diff);
[[nodiscard]] std::string to_json(const PlanDiff& diff);

}  // namespace collage
