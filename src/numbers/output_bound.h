// The bound on the outputs of a whole plan: that of the accuracy class, or the user's own.
// In:  "fast", or "max=1e-2,mean=1e-3,cosine>=0.999"; outputs of a plan and of the reference. Out: a bound; how much of
//       it an error takes.
// Cost: linear in the elements.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "numbers/compare.h"

namespace collage {

struct OutputBound {
  Accuracy accuracy = Accuracy::kStandard;  ///< the class by which single steps are chosen and judged
  // The user's bounds, in place of the class's. Each output of floats keeps to all that are given:
  std::optional<double> max = std::nullopt;   ///< largest error, as a share of the expected output's largest magnitude
  std::optional<double> mean = std::nullopt;  ///< mean error, as a share of the expected output's mean magnitude
  std::optional<double> cosine = std::nullopt;  ///< least cosine between the output and the expected one
  [[nodiscard]] bool is_users() const { return max || mean || cosine; }
  bool operator==(const OutputBound&) const = default;
};

/// Reads the name of a class, or a list of "max=", "mean=" and "cosine>="; steps are then those of class fast, or of
/// the class with this "max". Nothing for other texts, and for numbers that no error can keep to.
[[nodiscard]] std::optional<OutputBound> output_bound_of(std::string_view text);
/// What output_bound_of() reads, for messages.
inline constexpr std::string_view kOutputBoundForms =
    "strict, standard, fast, or bounds like max=1e-2,mean=1e-3,cosine>=0.999";
/// As output_bound_of() reads it.
[[nodiscard]] std::string to_string(const OutputBound& bound);
/// The bound written in a plan; class standard for what no version wrote.
[[nodiscard]] OutputBound bound_in_plan(std::string_view text);

/// How an output compares, and how much of the bound its error takes: at most 1 when it is inside. Infinite where NaN,
/// infinity or an integer is not as expected.
struct JudgedOutput {
  Comparison comparison;
  double share = 0;
  double mean_square = 0;  ///< of the error of one element, as a share of the expected output's largest magnitude
};

/// `slack`: what rounding inside of the model leaves open (rounding_slack.h), in addition to the bound of a class. A
/// user's own bound stays as it is.
[[nodiscard]] JudgedOutput check_output(const Tensor& seen, const Tensor& expected, const OutputBound& bound,
                                        double slack = 0);

}  // namespace collage
