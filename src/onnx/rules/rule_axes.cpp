#include <algorithm>
#include <set>

#include "onnx/rules/rule_checks.h"

namespace collage::rules {
namespace {

std::string bounds(std::int64_t low, std::int64_t high) { return std::to_string(low) + " to " + std::to_string(high); }

/// Whether all are axes of something with so many dimensions; "" when they are.
std::string all_within(const RuleQuestion& question, std::int64_t rank) {
  for (const std::int64_t one : question.value.ints)
    if (one < -rank || one >= rank)
      return rank == 0 ? "no axis: it is a scalar" : "an axis, " + bounds(-rank, rank - 1);
  return {};
}

std::int64_t most_rank(const RuleQuestion& question) { return static_cast<std::int64_t>(question.facts.limits.rank); }

/// `rank`: of what the axes are counted in, if it is known.
std::string distinct_within(const RuleQuestion& question, std::optional<std::int64_t> rank) {
  if (std::string problem = all_within(question, rank.value_or(most_rank(question))); !problem.empty()) return problem;
  std::set<std::int64_t> seen;
  for (const std::int64_t one : question.value.ints)
    if (!seen.insert(one < 0 && rank ? one + *rank : one).second) return "each axis once";
  return {};
}

}  // namespace

std::string axis(const RuleQuestion& question) {
  const auto rank = question.facts.rank(0);
  // Some operators take 0 for the axis of a scalar.
  if (rank == 0 && std::ranges::all_of(question.value.ints, [](std::int64_t one) { return one == 0 || one == -1; }))
    return {};
  return all_within(question, rank.value_or(most_rank(question)));
}

std::string quantised_axis(const RuleQuestion& question) {
  // With one scale for all, the axis means nothing.
  const auto rank = question.facts.rank(1);
  if (!rank || *rank == 0 || (*rank == 1 && question.facts.extent(1, 0) == 1)) return {};
  return axis(question);
}

std::string axis_or_end(const RuleQuestion& question) {
  const std::int64_t rank = question.facts.rank(0).value_or(most_rank(question));
  for (const std::int64_t one : question.value.ints)
    if (one < -rank || one > rank) return "an axis or the end, " + bounds(-rank, rank);
  return {};
}

std::string axis_of_new(const RuleQuestion& question) {
  const auto rank = question.facts.rank(0);
  return all_within(question, rank ? *rank + 1 : most_rank(question));
}

std::string distinct_axes(const RuleQuestion& question) {
  const auto rank = question.facts.rank(0);
  if (rank == 0) return {};
  return distinct_within(question, rank);
}

std::string distinct_new_axes(const RuleQuestion& question) {
  const auto rank = question.facts.rank(0);
  const auto count = static_cast<std::int64_t>(question.value.ints.size());
  return distinct_within(question, rank ? std::optional(*rank + count) : std::nullopt);
}

std::string axes_of_extent_one(const RuleQuestion& question) {
  if (std::string problem = distinct_axes(question); !problem.empty()) return problem;
  for (const std::int64_t one : question.value.ints) {
    const std::int64_t extent = question.facts.extent(0, one);
    if (extent != kUnknownExtent && extent != 1)
      return "axes of extent 1; axis " + std::to_string(one) + " has " + std::to_string(extent);
  }
  return {};
}

std::string permutation(const RuleQuestion& question) {
  const auto rank = question.facts.rank(0);
  const auto& order = question.value.ints;
  const auto count = static_cast<std::int64_t>(order.size());
  std::set<std::int64_t> seen;
  for (const std::int64_t one : order)
    if (one < 0 || one >= count || !seen.insert(one).second)
      return "each number from 0 to " + std::to_string(count - 1) + " once";
  if (rank && *rank != count) return std::to_string(*rank) + " axes";
  return {};
}

std::string zero_or_one_and_other(const RuleQuestion& question) {
  if (std::string problem = flag(question); !problem.empty()) return problem;
  if (question.facts.integer("batch_axis", 1) == question.facts.integer("time_axis", 0))
    return "batch_axis and time_axis that differ";
  return {};
}

std::string scan_axes(const RuleQuestion& question) { return all_within(question, most_rank(question)); }

}  // namespace collage::rules
