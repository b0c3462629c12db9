#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/rules/rule_checks.h"
#include "onnx/tensor_proto.h"

namespace collage::rules {
namespace {

/// Engines keep sizes, counts and steps in 32 bits.
constexpr std::int64_t kMostCount = std::numeric_limits<std::int32_t>::max();

bool all_ints(const RuleQuestion& question, std::int64_t low, std::int64_t high) {
  return std::ranges::all_of(question.value.ints, [&](std::int64_t one) { return low <= one && one <= high; });
}

template <class Predicate>
bool all_floats(const RuleQuestion& question, Predicate predicate) {
  return std::ranges::all_of(question.value.floats, predicate);
}

std::string unless(bool is_allowed, std::string allowed) { return is_allowed ? std::string() : std::move(allowed); }

}  // namespace

std::string positive(const RuleQuestion& question) {
  return unless(all_ints(question, 1, kMostCount), "1 to " + std::to_string(kMostCount));
}

std::string non_negative(const RuleQuestion& question) {
  return unless(all_ints(question, 0, kMostCount), "0 to " + std::to_string(kMostCount));
}

std::string flag(const RuleQuestion& question) { return unless(all_ints(question, 0, 1), "0 or 1"); }

std::string up_to_three(const RuleQuestion& question) { return unless(all_ints(question, 0, 3), "0 to 3"); }

std::string one_or_two(const RuleQuestion& question) { return unless(all_ints(question, 1, 2), "1 or 2"); }

std::string finite(const RuleQuestion& question) {
  return unless(all_floats(question, [](double one) { return std::isfinite(one); }), "a finite number");
}

std::string finite_positive(const RuleQuestion& question) {
  return unless(all_floats(question, [](double one) { return std::isfinite(one) && one > 0; }),
                "a finite number above 0");
}

std::string finite_non_negative(const RuleQuestion& question) {
  return unless(all_floats(question, [](double one) { return std::isfinite(one) && one >= 0; }),
                "a finite number of at least 0");
}

std::string fraction(const RuleQuestion& question) {
  return unless(all_floats(question, [](double one) { return one >= 0 && one <= 1; }), "0 to 1");
}

std::string at_least_one(const RuleQuestion& question) {
  const auto rank = question.facts.rank(0);
  if (rank && question.value.floats.size() != static_cast<std::size_t>(*rank))
    return std::to_string(*rank) + " numbers, one for each dimension";
  return unless(all_floats(question, [](double one) { return std::isfinite(one) && one >= 1; }),
                "finite numbers of at least 1");
}

std::string one_of(const RuleQuestion& question) {
  const auto is_listed = [&](const std::string& word) {
    if (word.empty() || word.find(' ') != std::string::npos) return false;
    const std::string all = " " + std::string(question.rule.words) + " ";
    return all.find(" " + word + " ") != std::string::npos;
  };
  return unless(std::ranges::all_of(question.value.words, is_listed), "one of " + std::string(question.rule.words));
}

std::string element_type(const RuleQuestion& question) {
  return unless(
      std::ranges::all_of(question.value.ints, [](std::int64_t one) { return element_type_from(one).has_value(); }),
      "the number of an element type");
}

std::string two_entries(const RuleQuestion& question) {
  if (question.value.ints.size() != 2) return "2 numbers";
  return positive(question);
}

std::string extents_that_fit(const RuleQuestion& question) {
  std::uint64_t elements = 1;
  for (const std::int64_t extent : question.value.ints) {
    if (extent < 0) return "extents of at least 0";
    const auto factor = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(extent));
    if (elements > question.facts.limits.elements / factor)
      return "at most " + std::to_string(question.facts.limits.elements) + " elements (--limit elements=N)";
    elements *= factor;
  }
  return {};
}

std::string high_above_low(const RuleQuestion& question) {
  if (std::string problem = finite(question); !problem.empty()) return problem;
  const auto low = question.facts.attribute("low");
  const auto high = question.facts.attribute("high");
  const double least = low && low->floats.size() == 1 ? low->floats.front() : 0;
  const double most = high && high->floats.size() == 1 ? high->floats.front() : 1;
  return unless(least <= most, "low of at most high");
}

}  // namespace collage::rules
