#include "plan/diff/plan_diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/clock.h"
#include "plan/explain/step_words.h"

namespace collage {
namespace {

/// Sets of numbers that are joined again and again.
class Joined {
 public:
  explicit Joined(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t of(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parent_;
};

std::string runner_of(const PlanStep& step) { return is_view(step) ? step.backend : who(step); }

/// A node that a step recomputes for itself is another step's.
std::vector<std::string> own_nodes(const PlanStep& step) {
  const StepNodes& nodes = nodes_of(step);
  std::vector<std::string> own;
  for (const std::string& name : nodes.names)
    if (std::ranges::find(nodes.repeated, name) == nodes.repeated.end()) own.push_back(name);
  return own;
}

void add_step(const Plan& plan, std::size_t s, DiffSide& side) {
  const PlanStep& step = plan.steps[s];
  side.steps.push_back(s);
  side.who.push_back(runner_of(step));
  side.nodes.push_back(own_nodes(step));
  side.us += to_us(step.cost_ns);
  side.estimated |= step.is_estimated;
  side.is_priced &= step.cost_ns > 0 || is_view(step) || !is_kernel(step);
}

class Differ {
 public:
  Differ(const DiffedPlan& a, const DiffedPlan& b) : diff_{.a = a, .b = b, .parts = {}} {}

  Result<PlanDiff> run() {
    number_nodes(*diff_.a.plan);
    const std::size_t of_a = names_.size();
    std::size_t shared = 0;
    for (const PlanStep& step : diff_.b.plan->steps)
      for (const std::string& name : own_nodes(step))
        if (numbers_.contains(name))
          ++shared;
        else
          diff_.only_in_b.push_back(name);
    if (shared == 0)
      return fail(ExitCode::kBadInput, "plan/nothing-in-common", diff_.b.name, "no node of " + diff_.a.name,
                  "two plans of one model");
    number_nodes(*diff_.b.plan);
    note_missing(of_a);
    cut_into_parts();
    std::ranges::stable_sort(diff_.parts, std::greater(), [](const DiffPart& part) {
      constexpr double kUnknown = std::numeric_limits<double>::infinity();
      const std::optional<double> more = part.more_us();
      return std::pair(part.differs, !part.differs ? 0 : more ? std::abs(*more) : kUnknown);
    });
    return std::move(diff_);
  }

 private:
  void number_nodes(const Plan& plan) {
    for (const PlanStep& step : plan.steps)
      for (std::string& name : own_nodes(step))
        if (numbers_.emplace(name, names_.size()).second) names_.push_back(std::move(name));
  }

  void note_missing(std::size_t of_a) {
    std::vector<bool> is_in_b(names_.size());
    for (const PlanStep& step : diff_.b.plan->steps)
      for (const std::string& name : own_nodes(step)) is_in_b[numbers_.at(name)] = true;
    for (std::size_t n = 0; n < of_a; ++n)
      if (!is_in_b[n]) diff_.only_in_a.push_back(names_[n]);
  }

  void cut_into_parts() {
    Joined joined(names_.size());
    const auto join_steps = [&](const Plan& plan) {
      for (const PlanStep& step : plan.steps) {
        const std::vector<std::string> own = own_nodes(step);
        for (std::size_t i = 1; i < own.size(); ++i) joined.join(numbers_.at(own[i]), numbers_.at(own[0]));
      }
    };
    join_steps(*diff_.a.plan);
    join_steps(*diff_.b.plan);
    std::map<std::size_t, std::size_t> part_of;
    for (std::size_t n = 0; n < names_.size(); ++n) {
      const auto [found, is_new] = part_of.emplace(joined.of(n), diff_.parts.size());
      if (is_new) diff_.parts.emplace_back();
      diff_.parts[found->second].nodes.push_back(names_[n]);
    }
    const auto part_at = [&](const PlanStep& step) -> DiffPart* {
      const std::vector<std::string> own = own_nodes(step);
      return own.empty() ? nullptr : &diff_.parts[part_of.at(joined.of(numbers_.at(own[0])))];
    };
    const auto add_steps = [&](const Plan& plan, DiffSide DiffPart::*side, DiffSide& conversions) {
      for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        DiffPart* const part = part_at(plan.steps[s]);
        if (part == nullptr && is_view(plan.steps[s])) continue;  // nothing runs
        add_step(plan, s, part != nullptr ? part->*side : conversions);
      }
    };
    add_steps(*diff_.a.plan, &DiffPart::a, diff_.conversions_a);
    add_steps(*diff_.b.plan, &DiffPart::b, diff_.conversions_b);
    for (DiffPart& part : diff_.parts) part.differs = part.a.who != part.b.who || part.a.nodes != part.b.nodes;
  }

  PlanDiff diff_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> numbers_;
};

}  // namespace

Result<PlanDiff> diff_plans(const DiffedPlan& a, const DiffedPlan& b) { return Differ(a, b).run(); }

}  // namespace collage
