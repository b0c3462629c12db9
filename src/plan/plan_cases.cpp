#include "plan/plan_cases.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/damaged.h"

namespace collage {
namespace {

Result<void> check_domain(const ShapeDomain& domain) {
  for (std::size_t d = 0; d < domain.dimensions.size(); ++d) {
    const DimensionRange& range = domain.dimensions[d];
    if (range.low < 0 || range.high < range.low)
      return damaged("domain", to_string(domain), "ranges that are not empty");
    if (range.name.empty() || (d > 0 && domain.dimensions[d - 1].name >= range.name))
      return damaged("domain", "dimension '" + range.name + "'", "names in order, each once");
  }
  return {};
}

/// Checks one plan against the ports that all have in common.
class CaseCheck {
 public:
  CaseCheck(const PlanCases& cases, const Plan& plan, std::string where)
      : cases_(cases), first_(any_plan(cases).plan), plan_(plan), where_(std::move(where)) {}

  /// `point` null: the generic plan.
  Result<void> run(const ShapePoint* point) const {
    if (auto sound = verify(plan_); !sound) {
      sound.error().where = where_ + ": " + sound.error().where;
      return sound;
    }
    if (plan_.model_hash != first_.model_hash || plan_.threads != first_.threads || plan_.accuracy != first_.accuracy ||
        plan_.weights_bytes != first_.weights_bytes)
      return damaged(where_, "another model, thread budget, accuracy or weights.bin", "what all plans have in common");
    if (plan_.inputs.size() != cases_.inputs.size() || plan_.outputs.size() != first_.outputs.size())
      return damaged(where_, "another number of inputs or outputs", "those of the model");
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) COLLAGE_TRY_VOID(check_input(i, point));
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i) COLLAGE_TRY_VOID(check_output(i));
    return {};
  }

 private:
  Result<void> check_input(std::size_t i, const ShapePoint* point) const {
    const PlanValue& seen = plan_.values[plan_.inputs[i]];
    const CaseInput& wanted = cases_.inputs[i];
    const ValueType type = point != nullptr ? type_at(cases_.domain, *point, wanted.type) : wanted.type;
    if (seen.name == wanted.name && seen.type == type) return {};
    return damaged(where_, fmt::format("input {} as {}", seen.name, to_string(seen.type)),
                   fmt::format("{} as {}", wanted.name, to_string(type)));
  }

  Result<void> check_output(std::size_t i) const {
    const PlanValue& seen = plan_.values[plan_.outputs[i]];
    const PlanValue& wanted = first_.values[first_.outputs[i]];
    if (seen.name == wanted.name && seen.type.element == wanted.type.element) return {};
    return damaged(where_, "output " + seen.name, "output " + wanted.name + " of the same type");
  }

  const PlanCases& cases_;
  const Plan& first_;
  const Plan& plan_;
  std::string where_;
};

}  // namespace

const RealisedPlan& any_plan(const PlanCases& cases) {
  COLLAGE_CHECK(cases.generic || !cases.cases.empty(), "a plan without cases");
  return cases.generic ? *cases.generic : cases.cases.front().plan;
}

std::optional<std::size_t> find_case(const PlanCases& cases, const ShapePoint& point) {
  const auto found = std::ranges::lower_bound(cases.cases, point, {}, &PlanCase::point);
  if (found == cases.cases.end() || found->point != point) return std::nullopt;
  return static_cast<std::size_t>(found - cases.cases.begin());
}

Result<const RealisedPlan*> plan_for(const PlanCases& cases, const ShapePoint& point) {
  if (!contains(cases.domain, point))
    return fail(ExitCode::kBadInput, "shape/outside", "the shape asked for", to_string(cases.domain, point),
                to_string(cases.domain));
  if (const auto found = find_case(cases, point)) return &cases.cases[*found].plan;
  if (cases.generic) return &*cases.generic;
  std::string known;
  for (const PlanCase& one : cases.cases) known += (known.empty() ? "" : "; ") + to_string(cases.domain, one.point);
  return fail(ExitCode::kBadInput, "shape/no-case", "the shape asked for", to_string(cases.domain, point),
              "one of the plan's cases, for it has no generic one: " + known);
}

Result<RealisedPlan> plan_at(const PlanCases& cases, const ShapePoint& point) {
  COLLAGE_TRY(const RealisedPlan* const serving, plan_for(cases, point));
  RealisedPlan plan = *serving;
  if (cases.generic && serving == &*cases.generic)
    plan.plan.shapes = bindings_at({.entries = plan.plan.shapes}, cases.domain, point).entries;
  return plan;
}

PlanCases single_case(RealisedPlan plan) {
  PlanCases cases;
  for (const PlanIndex input : plan.plan.inputs)
    cases.inputs.push_back({plan.plan.values[input].name, plan.plan.values[input].type});
  cases.cases.push_back({.point = {}, .plan = std::move(plan)});
  return cases;
}

Result<void> verify(const PlanCases& cases) {
  if (cases.cases.empty() && !cases.generic) return damaged("cases", "none", "at least one plan");
  COLLAGE_TRY_VOID(check_domain(cases.domain));
  std::vector<ValueType> types;
  for (const CaseInput& input : cases.inputs) types.push_back(input.type);
  if (const auto told = check_inputs_tell(cases.domain, types); !told)
    return damaged("domain", told.error().where, told.error().allowed);
  const ShapePoint* before = nullptr;
  for (const PlanCase& one : cases.cases) {
    const std::string where = "case " + to_string(cases.domain, one.point);
    if (!contains(cases.domain, one.point) || (before != nullptr && *before >= one.point))
      return damaged(where, "a point outside the domain or out of order", "points of the domain in order, each once");
    if (!std::isfinite(one.weight) || one.weight <= 0) return damaged(where, "its weight", "a weight above 0");
    COLLAGE_TRY_VOID(CaseCheck(cases, one.plan.plan, where).run(&one.point));
    before = &one.point;
  }
  if (cases.generic) COLLAGE_TRY_VOID(CaseCheck(cases, cases.generic->plan, "the generic case").run(nullptr));
  return {};
}

}  // namespace collage
