#include "serve/batch_rule.h"

#include <algorithm>

#include "api/run/shape_reader.h"

namespace collage {
namespace {

/// The symbol is the first axis and no other.
bool is_first_axis_only(const ValueType& type, const std::string& symbol) {
  if (type.kind != ValueKind::kTensor || !type.shape || type.shape->empty()) return false;
  return type.shape->front().symbol == symbol && std::ranges::count(*type.shape, symbol, &Dim::symbol) == 1;
}

/// All outputs of the plan have this extent first; an open one is tried when the plan is loaded.
bool outputs_begin_with(const Plan& plan, std::optional<std::int64_t> extent) {
  return std::ranges::all_of(plan.outputs, [&](PlanIndex output) {
    const ValueType& type = plan.values[output].type;
    if (type.kind != ValueKind::kTensor || !type.shape || type.shape->empty()) return false;
    const Dim& first = type.shape->front();
    return !first.is_static() || (extent && first.extent == *extent);
  });
}

bool is_batch(const PlanCases& cases, std::size_t dimension) {
  const std::string& symbol = cases.domain.dimensions[dimension].name;
  if (!std::ranges::all_of(cases.inputs,
                           [&](const CaseInput& input) { return is_first_axis_only(input.type, symbol); }))
    return false;
  if (cases.generic && !outputs_begin_with(cases.generic->plan, std::nullopt)) return false;
  return std::ranges::all_of(
      cases.cases, [&](const PlanCase& one) { return outputs_begin_with(one.plan.plan, one.point[dimension]); });
}

std::int64_t rows_of(std::span<PendingRequest* const> batch) {
  std::int64_t rows = 0;
  for (const PendingRequest* pending : batch) rows += pending->rows;
  return rows;
}

}  // namespace

std::optional<BatchRule> batch_rule_of(const PlanCases& cases) {
  if (cases.inputs.empty()) return std::nullopt;
  for (std::size_t d = 0; d < cases.domain.dimensions.size(); ++d)
    if (is_batch(cases, d)) return BatchRule{.dimension = d, .most = cases.domain.dimensions[d].high};
  return std::nullopt;
}

std::vector<Extents> joined_extents(std::span<PendingRequest* const> batch) {
  std::vector<Extents> extents;
  for (const PendingInput& input : batch.front()->inputs) extents.push_back(input.extents);
  if (batch.size() == 1) return extents;
  const std::int64_t rows = rows_of(batch);
  for (Extents& one : extents) one.front() = rows;
  return extents;
}

bool may_join(const PlanCases& cases, const BatchRule& rule, std::span<PendingRequest* const> taken,
              const PendingRequest& next) {
  const std::int64_t rows = rows_of(taken) + next.rows;
  if (next.rows == 0 || rows > rule.most) return false;
  const std::vector<PendingInput>& first = taken.front()->inputs;
  for (std::size_t i = 0; i < first.size(); ++i)
    if (!std::equal(first[i].extents.begin() + 1, first[i].extents.end(), next.inputs[i].extents.begin() + 1,
                    next.inputs[i].extents.end()))
      return false;
  if (cases.generic) return true;
  std::vector<Extents> extents = joined_extents(taken);
  for (Extents& one : extents) one.front() = rows;
  const auto point = point_of_inputs(cases, extents);
  return point && plan_for(cases, *point);
}

}  // namespace collage
