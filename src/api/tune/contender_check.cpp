#include "api/tune/contender_check.h"

#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace collage {
namespace {

constexpr std::size_t kMoreSets = 3;

/// compare() measures errors between finite elements only; NaN or infinity in the wrong place has no end.
double with_infinite(double error, const Comparison& comparison) {
  const bool is_finite = std::isfinite(comparison.seen) && std::isfinite(comparison.expected);
  return comparison.ok || is_finite ? error : std::numeric_limits<double>::infinity();
}

/// Wrong before right, then by the error.
bool is_worse(const Comparison& one, const NumbersCheck& than) {
  if (one.ok == than.is_wrong()) return !one.ok;
  return with_infinite(one.max_abs, one) > than.max_abs;
}

/// Of each set.
Result<std::vector<ExpectedNumbers>> expected_numbers(const SourceModel& source, std::span<const CheckedSet> sets,
                                                      const OutputBound& bound, Registry& registry,
                                                      std::vector<std::string>& notes) {
  COLLAGE_TRY(ReferenceModel reference, ReferenceModel::create(registry, source, notes));
  ExpectedNumbers expected{.bound = bound};
  for (const ValueId id : source.graph.outputs) expected.names.push_back(source.graph.value(id).name);
  std::vector<ExpectedNumbers> all;
  for (const CheckedSet& set : sets) {
    COLLAGE_TRY(expected.outputs, reference.run(set.inputs));
    all.push_back(expected);
  }
  return all;
}

}  // namespace

std::string_view name_of(NumbersCheck::Verdict verdict) {
  switch (verdict) {
    case NumbersCheck::Verdict::kUnchecked:
      return "unchecked";
    case NumbersCheck::Verdict::kRight:
      return "right";
    case NumbersCheck::Verdict::kWrong:
      return "wrong";
  }
  return "";
}

Result<std::vector<CheckedSet>> checked_sets(const SourceModel& source, GatherOptions made, const OutputBound& bound,
                                             Registry& registry, std::vector<std::string>& notes) {
  const std::size_t count = 1 + (bound.accuracy == Accuracy::kFast ? kMoreSets : 0);
  std::vector<CheckedSet> sets;
  for (; sets.size() < count; ++made.seed) {
    COLLAGE_TRY(std::vector<Tensor> inputs, gather_inputs(source.graph, made));
    sets.push_back({.inputs = std::move(inputs)});
  }
  auto expected = expected_numbers(source, sets, bound, registry, notes);
  if (!expected) {
    notes.push_back("nobody's numbers were checked: " + to_string(expected.error()));
    sets.resize(1);
    return sets;
  }
  for (std::size_t set = 0; set < sets.size(); ++set) sets[set].expected = std::move((*expected)[set]);
  return sets;
}

NumbersCheck check_numbers(const std::vector<Tensor>& seen, const ExpectedNumbers& expected) {
  NumbersCheck check;
  for (std::size_t o = 0; o < expected.outputs.tensors.size(); ++o) {
    if (o >= seen.size())
      return {.verdict = NumbersCheck::Verdict::kWrong, .output = expected.names[o], .detail = "no such output"};
    const Tensor& wanted = expected.outputs.tensors[o];
    const Comparison comparison = check_output(seen[o], wanted, expected.bound, expected.outputs.slacks[o]).comparison;
    if (check.verdict != NumbersCheck::Verdict::kUnchecked && !is_worse(comparison, check)) continue;
    check = {.verdict = comparison.ok ? NumbersCheck::Verdict::kRight : NumbersCheck::Verdict::kWrong,
             .output = expected.names[o],
             .max_abs = with_infinite(comparison.max_abs, comparison),
             .max_rel = with_infinite(comparison.max_rel, comparison),
             .detail = comparison.ok ? "" : to_string(comparison)};
  }
  return check;
}

}  // namespace collage
