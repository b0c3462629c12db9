#include <algorithm>
#include <cmath>
#include <set>

#include "onnx/rules/rule_checks.h"

namespace collage::rules {
namespace {

std::string elements_allowed(const RuleQuestion& question) {
  return "at most " + std::to_string(question.facts.limits.elements) + " elements (--limit elements=N)";
}

/// Axes that an operand names, from the front; nothing when the rank is not known or one is none.
std::optional<std::vector<std::int64_t>> chosen_axes(const RuleQuestion& question, std::size_t operand) {
  const auto rank = question.facts.rank(0);
  if (!rank) return std::nullopt;
  std::vector<std::int64_t> axes;
  if (!question.facts.has_operand(operand)) {
    for (std::int64_t i = 0; i < *rank; ++i) axes.push_back(i);
    return axes;
  }
  const auto chosen = question.facts.operand(operand);
  if (!chosen) return std::nullopt;
  for (const std::int64_t one : chosen->ints) {
    if (one < -*rank || one >= *rank) return std::nullopt;
    axes.push_back(one < 0 ? one + *rank : one);
  }
  return axes;
}

/// How many extents Resize and others name.
std::optional<std::size_t> resized_count(const RuleQuestion& question) {
  if (const auto axes = question.facts.attribute("axes")) return axes->ints.size();
  const auto rank = question.facts.rank(0);
  return rank ? std::optional(static_cast<std::size_t>(*rank)) : std::nullopt;
}

std::string one_for_each(std::size_t count) { return std::to_string(count) + " numbers, one for each dimension"; }

/// Of a new shape, where the old one is known: as many elements, or with an open extent a divisor of them.
std::string as_many_elements(const RuleQuestion& question, bool is_open) {
  const auto old = question.facts.extents(0);
  if (!old || std::ranges::find(*old, kUnknownExtent) != old->end()) return {};
  const bool copies_zeros = question.facts.integer("allowzero", 0) == 0;
  // Products that wrap belong to values that are refused for their size.
  std::uint64_t before = 1;
  for (const std::int64_t extent : *old) before *= static_cast<std::uint64_t>(extent);
  std::uint64_t after = 1;
  for (std::size_t i = 0; i < question.value.ints.size(); ++i) {
    const std::int64_t one = question.value.ints[i];
    if (one == 0 && copies_zeros && i >= old->size()) return "no 0 beyond the dimensions that it copies";
    if (one != -1) after *= static_cast<std::uint64_t>(one == 0 && copies_zeros ? (*old)[i] : one);
  }
  if (is_open ? after == 0 || before % after == 0 : before == after) return {};
  return "a shape of " + std::to_string(before) + " elements";
}

}  // namespace

std::string paddings(const RuleQuestion& question) {
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  const auto& pads = question.value.ints;
  if (pads.size() % 2 != 0) return "two numbers for each dimension";
  for (const std::int64_t one : pads)
    if (one < -kMost || one > kMost) return "numbers of at most 2^56";
  const auto axes = chosen_axes(question, question.rule.operand == AttributeRule::kAttribute ? 99 : 3);
  if (!axes) return {};
  const std::size_t count = axes->size();
  if (pads.size() != 2 * count) return std::to_string(2 * count) + " numbers, two for each dimension";
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t extent = question.facts.extent(0, (*axes)[i]);
    if (extent != kUnknownExtent &&
        extent + std::min<std::int64_t>(pads[i], 0) + std::min<std::int64_t>(pads[i + count], 0) < 0)
      return "no more taken away than the " + std::to_string(extent) + " elements of axis " +
             std::to_string((*axes)[i]);
  }
  return {};
}

std::string pad_axes(const RuleQuestion& question) { return distinct_axes(question); }

/// One length for all parts, or one for each, which may be empty.
std::string split_lengths(const RuleQuestion& question) {
  return question.value.rank == 0 ? positive(question) : non_negative(question);
}

std::string scales(const RuleQuestion& question) {
  if (question.value.size() == 0) return {};  // the older way to omit it
  if (std::string problem = finite_positive(question); !problem.empty()) return problem;
  const auto count = resized_count(question);
  if (count && *count != question.value.size()) return one_for_each(*count);
  double elements = 1;
  for (std::size_t i = 0; i < question.value.floats.size(); ++i) {
    const std::int64_t extent =
        question.facts.attribute("axes") ? kUnknownExtent : question.facts.extent(0, static_cast<std::int64_t>(i));
    elements *=
        std::max(1.0, std::floor(question.value.floats[i] * static_cast<double>(std::max<std::int64_t>(1, extent))));
  }
  return elements > static_cast<double>(question.facts.limits.elements) ? elements_allowed(question) : std::string();
}

std::string sizes(const RuleQuestion& question) {
  if (question.value.size() == 0) return {};
  if (std::string problem = extents_that_fit(question); !problem.empty()) return problem;
  const auto count = resized_count(question);
  return count && *count != question.value.size() ? one_for_each(*count) : std::string();
}

std::string repeats(const RuleQuestion& question) {
  if (std::string problem = extents_that_fit(question); !problem.empty()) return problem;
  const auto rank = question.facts.rank(0);
  if (rank && *rank != static_cast<std::int64_t>(question.value.size()))
    return one_for_each(static_cast<std::size_t>(*rank));
  return {};
}

std::string tiled_extents(const RuleQuestion& question) { return extents_that_fit(question); }

std::string reshaped_extents(const RuleQuestion& question) {
  int open = 0;
  RuleValue known = question.value;
  known.ints.clear();
  for (const std::int64_t one : question.value.ints) {
    if (one < -1) return "extents of at least 0, and one -1";
    if (one == -1)
      ++open;
    else
      known.ints.push_back(one);
  }
  if (open > 1) return "at most one -1";
  if (std::string problem = extents_that_fit({known, question.facts, question.rule}); !problem.empty()) return problem;
  return as_many_elements(question, open == 1);
}

/// The limit has to lie where counting from the start takes at most as many steps as a tensor may have elements.
std::string range_end(const RuleQuestion& question) {
  const auto start = question.facts.operand(0);
  const auto step = question.facts.operand(2);
  if (!start || !step || start->size() != 1 || step->size() != 1 || question.value.size() != 1) return {};
  const auto number = [](const RuleValue& value) {
    return value.ints.empty() ? value.floats.front() : static_cast<double>(value.ints.front());
  };
  const double count = (number(question.value) - number(*start)) / number(*step);
  if (std::isnan(count) || !std::isfinite(number(question.value))) return "a finite number";
  if (count > static_cast<double>(question.facts.limits.elements)) return elements_allowed(question);
  return {};
}

std::string range_step(const RuleQuestion& question) {
  for (const std::int64_t one : question.value.ints)
    if (one == 0) return "a number that is not 0";
  for (const double one : question.value.floats)
    if (!std::isfinite(one) || one == 0) return "a finite number that is not 0";
  return {};
}

std::string slice_steps(const RuleQuestion& question) {
  if (std::string problem = range_step(question); !problem.empty()) return problem;
  return as_long_as_starts(question);
}

std::string as_long_as_starts(const RuleQuestion& question) {
  const bool is_attribute = question.rule.operand == AttributeRule::kAttribute;
  const auto starts = is_attribute ? question.facts.attribute("starts") : question.facts.operand(1);
  if (starts && starts->size() != question.value.size())
    return std::to_string(starts->size()) + " numbers, as starts has";
  return {};
}

std::string top_count(const RuleQuestion& question) {
  if (question.value.size() != 1) return "one number";
  const std::int64_t extent = question.facts.extent(0, question.facts.integer("axis", -1));
  const std::int64_t count = question.value.ints.empty() ? 0 : question.value.ints.front();
  if (count < 0 || (extent != kUnknownExtent && count > extent))
    return extent == kUnknownExtent ? "at least 0" : "0 to " + std::to_string(extent);
  return {};
}

std::string depth(const RuleQuestion& question) {
  if (question.value.size() != 1) return "one number";
  const double count =
      question.value.ints.empty() ? question.value.floats.front() : static_cast<double>(question.value.ints.front());
  if (!(count >= 1)) return "at least 1";
  return count > static_cast<double>(question.facts.limits.elements) ? elements_allowed(question) : std::string();
}

std::string off_and_on(const RuleQuestion& question) {
  return question.value.size() == 2 ? std::string() : "two values, off and on";
}

std::string window_length(const RuleQuestion& question) {
  for (const std::int64_t one : question.value.ints)
    if (one < 0 || static_cast<std::uint64_t>(one) > question.facts.limits.elements)
      return "0 to " + std::to_string(question.facts.limits.elements) + " (--limit elements=N)";
  return {};
}

std::string frame_length(const RuleQuestion& question) {
  if (std::string problem = positive(question); !problem.empty()) return problem;
  const std::int64_t extent = question.facts.extent(0, 1);
  const bool is_too_long = std::ranges::any_of(question.value.ints, [&](std::int64_t one) { return one > extent; });
  if (question.rule.name == "frame_length" && extent != kUnknownExtent && is_too_long)
    return "at most the " + std::to_string(extent) + " samples of the signal";
  return {};
}

std::string positive_extents(const RuleQuestion& question) {
  if (std::string problem = positive(question); !problem.empty()) return problem;
  return extents_that_fit(question);
}

std::string cropped_extents(const RuleQuestion& question) {
  if (std::string problem = extents_that_fit(question); !problem.empty()) return problem;
  const auto count = resized_count(question);
  return count && *count != question.value.size() ? one_for_each(*count) : std::string();
}

std::string grid_extents(const RuleQuestion& question) {
  if (question.value.size() != 4 && question.value.size() != 5) return "4 or 5 extents";
  return positive_extents(question);
}

}  // namespace collage::rules
