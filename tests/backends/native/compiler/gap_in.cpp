#include "tests/backends/native/compiler/gap_in.h"

#include <algorithm>
#include <array>
#include <map>

namespace collage::native {
namespace {

/// Numbers beyond these are as good as infinite.
constexpr std::int64_t kLow = -(std::int64_t{1} << 62);
constexpr std::int64_t kHigh = std::int64_t{1} << 62;

struct Interval {
  std::int64_t low = kLow;
  std::int64_t high = kHigh;
};

/// A comparison of a term with a number.
struct Cut {
  std::string term;
  std::string_view sign;
  std::int64_t at = 0;
};

using Cuts = std::vector<Cut>;
using Intervals = std::map<std::string, Interval>;

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) out = (a < 0) == (b < 0) ? kHigh : kLow;
  return std::clamp(out, kLow, kHigh);
}

std::int64_t difference(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_sub_overflow(a, b, &out)) out = a < b ? kLow : kHigh;
  return std::clamp(out, kLow, kHigh);
}

Interval sum(const Interval& a, const Interval& b) {
  Interval out;
  if (a.low > kLow && b.low > kLow) out.low = std::max(a.low + b.low, kLow);
  if (a.high < kHigh && b.high < kHigh) out.high = std::min(a.high + b.high, kHigh);
  return out;
}

Interval product(const Interval& a, const Interval& b) {
  const std::array<std::int64_t, 4> corners = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                                               product(a.high, b.high)};
  return {*std::ranges::min_element(corners), *std::ranges::max_element(corners)};
}

Interval remainder(const Interval& a, const Interval& b) {
  if (a.low < 0 || b.low < 1) return {};
  return {0, std::min(a.high, b.high - 1)};
}

Interval interval_of(std::string_view word, std::span<const Domain> domains) {
  if (const auto number = literal_number(word)) return {*number, *number};
  const auto known = std::ranges::find(domains, word, &Domain::fact);
  return known == domains.end() ? Interval{} : Interval{known->low, known->high};
}

Interval interval_of(const Product& words, std::span<const Domain> domains) {
  Interval value = interval_of(words[0], domains);
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const Interval by = interval_of(words[i + 1], domains);
    value = words[i] == "*" ? product(value, by) : remainder(value, by);
  }
  return value;
}

Interval interval_of(const Operand& operand, std::span<const Domain> domains) {
  Interval value = interval_of(operand[0], domains);
  for (std::size_t i = 1; i < operand.size(); ++i) value = sum(value, interval_of(operand[i], domains));
  return value;
}

std::string text_of(const Operand& operand) {
  std::string text;
  for (const Product& words : operand) {
    if (!text.empty()) text += " +";
    for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
  }
  return text;
}

std::optional<std::int64_t> number_of(const Operand& operand) {
  return operand.size() == 1 && operand[0].size() == 1 ? literal_number(operand[0][0]) : std::nullopt;
}

/// The comparison as a cut through a term, whose interval is noted.
Cut cut_of(const Comparison& comparison, std::span<const Domain> domains, Intervals& intervals) {
  const Interval left = interval_of(comparison.left, domains);
  const auto number = number_of(comparison.right);
  if (number) {
    const Cut cut{.term = text_of(comparison.left), .sign = comparison.sign, .at = *number};
    intervals[cut.term] = left;
    return cut;
  }
  const Interval right = interval_of(comparison.right, domains);
  const Cut cut{.term = text_of(comparison.left) + " - " + text_of(comparison.right), .sign = comparison.sign, .at = 0};
  intervals[cut.term] = {difference(left.low, right.high), difference(left.high, right.low)};
  return cut;
}

/// Whether it holds throughout the interval, nowhere in it, or in some of it.
std::optional<bool> decided(const Cut& cut, const Interval& in) {
  const auto either = [](bool always, bool never) { return always || never ? std::optional(always) : std::nullopt; };
  const bool is_below = in.high < cut.at;
  const bool is_above = in.low > cut.at;
  const bool is_at = in.low == cut.at && in.high == cut.at;
  if (cut.sign == "==") return either(is_at, is_below || is_above);
  if (cut.sign == "!=") return either(is_below || is_above, is_at);
  if (cut.sign == "<") return either(is_below, in.low >= cut.at);
  if (cut.sign == "<=") return either(in.high <= cut.at, is_above);
  if (cut.sign == ">") return either(is_above, in.high <= cut.at);
  return either(in.low >= cut.at, is_below);
}

std::string text_of(const Intervals& intervals) {
  std::string text;
  for (const auto& [term, in] : intervals)
    if (in.low > kLow || in.high < kHigh)
      text += (text.empty() ? "" : ", ") + term + " = " + std::to_string(in.low > kLow ? in.low : in.high);
  return text.empty() ? "anything" : text;
}

/// What is undecided of the alternatives that may still hold; nothing when one holds as a whole.
std::optional<std::vector<Cuts>> undecided(const std::vector<Cuts>& alternatives, const Intervals& intervals) {
  std::vector<Cuts> left;
  for (const Cuts& together : alternatives) {
    Cuts open;
    bool is_possible = true;
    for (const Cut& cut : together) {
      const auto verdict = decided(cut, intervals.at(cut.term));
      is_possible = is_possible && verdict.value_or(true);
      if (!verdict) open.push_back(cut);
    }
    if (!is_possible) continue;
    if (open.empty()) return std::nullopt;
    left.push_back(std::move(open));
  }
  return left;
}

std::optional<std::string> gap(const std::vector<Cuts>& alternatives, const Intervals& intervals) {
  const auto left = undecided(alternatives, intervals);
  if (!left) return std::nullopt;
  if (left->empty()) return text_of(intervals);
  const Cut& cut = std::ranges::min_element(*left, {}, &Cuts::size)->front();
  const Interval in = intervals.at(cut.term);
  for (const Interval& part : {Interval{cut.at, cut.at}, Interval{in.low, std::min(in.high, cut.at - 1)},
                               Interval{std::max(in.low, cut.at + 1), in.high}}) {
    if (part.low > part.high || part.low < in.low || part.high > in.high) continue;
    Intervals narrowed = intervals;
    narrowed[cut.term] = part;
    if (auto found = gap(*left, narrowed)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> gap_in(std::span<const std::string_view> conditions, std::span<const Domain> domains) {
  std::vector<Cuts> alternatives;
  Intervals intervals;
  for (const std::string_view condition : conditions) {
    const auto parsed = alternatives_of(condition);
    COLLAGE_CHECK(parsed.has_value(), parsed.error());
    for (const Together& together : *parsed) {
      Cuts cuts;
      for (const Comparison& one : together) cuts.push_back(cut_of(one, domains, intervals));
      alternatives.push_back(std::move(cuts));
    }
  }
  return gap(alternatives, intervals);
}

}  // namespace collage::native
