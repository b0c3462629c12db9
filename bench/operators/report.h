// What the operator benchmark found, as Markdown.
// In: outcomes, who is looked at. Out: one row a case, the means by class, the goals, the rows that were lost.
// Cost: a bootstrap over the rounds for each ratio.
// Source: ours.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/operators/contest.h"
#include "bench/operators/operator_classes.h"
#include "timing/race.h"

namespace collage::bench {

struct ReportOptions {
  std::string of = "native";            ///< whose times are compared with the others'
  std::vector<std::string> contenders;  ///< columns, in order
};

/// Fastest of those that are not `of`; null when there is none.
[[nodiscard]] const Contender* best_rival(const Outcome& outcome, const std::string& of);

/// How many times faster `of` is, by round; nothing when one of them did not run.
[[nodiscard]] std::optional<Ratio> ratio_against(const Outcome& outcome, const std::string& of, Opponent opponent);

/// Two lines to begin with, then one for each outcome.
[[nodiscard]] std::string table_head(const ReportOptions& options);
[[nodiscard]] std::string table_row(const Outcome& outcome, const ReportOptions& options);

/// The means, the goals and the lost rows.
[[nodiscard]] std::string summary(const std::vector<Outcome>& outcomes, const ReportOptions& options);

}  // namespace collage::bench
