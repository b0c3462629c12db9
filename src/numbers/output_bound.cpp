#include "numbers/output_bound.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace collage {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::string_view kMax = "max=";
constexpr std::string_view kMean = "mean=";
constexpr std::string_view kCosine = "cosine>=";

std::optional<double> number_after(std::string_view text, std::string_view key) {
  if (!text.starts_with(key)) return std::nullopt;
  text.remove_prefix(key.size());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// False for an entry that is none, and for one that is there already.
bool read_entry(std::string_view entry, OutputBound& bound) {
  const auto error = [&](std::string_view key, std::optional<double>& into) {
    const auto number = number_after(entry, key);
    if (!number || into || !(*number > 0) || !std::isfinite(*number)) return false;
    into = number;
    return true;
  };
  if (error(kMax, bound.max) || error(kMean, bound.mean)) return true;
  const auto cosine = number_after(entry, kCosine);
  if (!cosine || bound.cosine || !(*cosine > 0) || !(*cosine < 1)) return false;
  bound.cosine = cosine;
  return true;
}

/// The class of steps: arithmetic that errs more than the user wants in the end is not tried.
Accuracy class_of(const OutputBound& bound) {
  const double most = bound.max.value_or(1);
  for (const Accuracy accuracy : {Accuracy::kStrict, Accuracy::kStandard})
    if (most <= tolerance_of(accuracy, false).share) return accuracy;
  return Accuracy::kFast;
}

/// What the errors of one output amount to.
struct Errors {
  double largest = 0;       ///< |seen - expected|
  double sum = 0;           ///< of |seen - expected|
  double squares = 0;       ///< sum of (seen - expected)^2
  double expected_max = 0;  ///< largest |expected|
  double expected_sum = 0;  ///< of |expected|
  double product = 0;       ///< sum of seen x expected
  double seen_squares = 0;  ///< sum of seen x seen
  double expected_squares = 0;
  bool is_odd = false;  ///< NaN or infinity where the other has none
};

void add(double seen, double expected, Errors& errors) {
  if (!std::isfinite(seen) || !std::isfinite(expected)) {
    errors.is_odd |= seen != expected && !(std::isnan(seen) && std::isnan(expected));
    return;
  }
  const double error = std::abs(seen - expected);
  errors.largest = std::max(errors.largest, error);
  errors.sum += error;
  errors.squares += error * error;
  errors.expected_max = std::max(errors.expected_max, std::abs(expected));
  errors.expected_sum += std::abs(expected);
  errors.product += seen * expected;
  errors.seen_squares += seen * seen;
  errors.expected_squares += expected * expected;
}

/// What rounding may leave of an output that is all zero.
constexpr double kFloor = 1e-6;

double users_share(const Errors& errors, const OutputBound& bound) {
  if (errors.largest == 0) return 0;
  double share = 0;
  if (bound.max) share = std::max(share, errors.largest / (*bound.max * errors.expected_max + kFloor));
  if (bound.mean) share = std::max(share, errors.sum / (*bound.mean * errors.expected_sum + kFloor));
  if (bound.cosine) {
    const double length = std::sqrt(errors.seen_squares) * std::sqrt(errors.expected_squares);
    const double cosine = length > 0 ? std::min(1.0, errors.product / length) : 0.0;
    share = std::max(share, (1 - cosine) / (1 - *bound.cosine));
  }
  return share;
}

double class_share(const std::vector<double>& seen, const std::vector<double>& expected, const Errors& errors,
                   const Tolerance& tolerance, double slack) {
  const double absolute = tolerance.share * errors.expected_max + tolerance.floor + slack;
  double share = 0;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (std::isfinite(seen[i]) && std::isfinite(expected[i]))
      share =
          std::max(share, std::abs(seen[i] - expected[i]) / (absolute + tolerance.relative * std::abs(expected[i])));
  return share;
}

}  // namespace

std::optional<OutputBound> output_bound_of(std::string_view text) {
  if (const auto accuracy = accuracy_of(text)) return OutputBound{.accuracy = *accuracy};
  OutputBound bound{.accuracy = Accuracy::kFast};
  while (true) {
    const std::size_t comma = text.find(',');
    if (!read_entry(text.substr(0, comma), bound)) return std::nullopt;
    if (comma == std::string_view::npos) {
      bound.accuracy = class_of(bound);
      return bound;
    }
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const OutputBound& bound) {
  if (!bound.is_users()) return std::string(name_of(bound.accuracy));
  std::string text;
  const auto add = [&](std::string_view key, const std::optional<double>& number) {
    if (number) text += fmt::format("{}{}{}", text.empty() ? "" : ",", key, *number);
  };
  add(kMax, bound.max);
  add(kMean, bound.mean);
  add(kCosine, bound.cosine);
  return text;
}

OutputBound bound_in_plan(std::string_view text) { return output_bound_of(text).value_or(OutputBound()); }

JudgedOutput check_output(const Tensor& seen, const Tensor& expected, const OutputBound& bound, double slack) {
  const bool is_16bit = is_16bit_float(expected.type);
  JudgedOutput check{.comparison = compare(seen, expected, bound.accuracy, is_16bit, slack)};
  const auto values = floats_of(seen);
  const auto wanted = floats_of(expected);
  if (!check.comparison.mismatch.empty() || !values || !wanted) {
    check.share = check.comparison.ok ? 0 : kInfinite;
    return check;
  }
  Errors errors;
  for (std::size_t i = 0; i < values->size(); ++i) add((*values)[i], (*wanted)[i], errors);
  check.share = bound.is_users() ? users_share(errors, bound)
                                 : class_share(*values, *wanted, errors, tolerance_of(bound.accuracy, is_16bit), slack);
  if (errors.is_odd) check.share = kInfinite;
  if (errors.expected_max > 0)
    check.mean_square =
        errors.squares / static_cast<double>(values->size()) / (errors.expected_max * errors.expected_max);
  if (!bound.is_users()) return check;
  check.comparison.ok = check.share <= 1;
  check.comparison.mismatch =
      check.comparison.ok ? "" : fmt::format("{:.3g} times the error that {} allows", check.share, to_string(bound));
  return check;
}

}  // namespace collage
