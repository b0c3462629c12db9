// What may be refused: files of lines "PATTERN: REASON", '#' begins a comment. A PATTERN is a case's name in which '*'
// stands for any text after its family's part. The rule that keeps the files true:
//   - every refused case is matched by a line with its reason;
//   - every case that a line matches is refused with the line's reason, so a pattern covers whole groups only;
//   - every line matches a case, if only one that does not run this time.
// So a line that became stale fails, and so does a refusal nobody expected.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tests/conformance/case.h"

namespace collage::conformance {

struct Expectation {
  std::string pattern;
  std::string reason;
  bool operator==(const Expectation&) const = default;
};

using Outcomes = std::map<std::string, Outcome>;  ///< by case name

[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

/// Error conformance/malformed for a line that is not "PATTERN: REASON".
[[nodiscard]] Result<std::vector<Expectation>> parse_expectations(std::string_view text);

/// Lines of one family.
[[nodiscard]] std::vector<Expectation> of_family(const std::vector<Expectation>& all, std::string_view family);

/// What is wrong between a family's lines and its outcomes, failures of cases included; empty when all is as expected.
/// `skipped` are names of cases that exist and did not run.
[[nodiscard]] std::vector<std::string> problems(const std::vector<Expectation>& lines, const Outcomes& outcomes,
                                                const std::vector<std::string>& skipped = {});

/// "passed", "was refused: type (DETAIL)" or "failed (DETAIL)".
[[nodiscard]] std::string to_text(const Outcome& outcome);

/// The lines that say what was refused, few: a pattern wherever all cases with a common beginning agree.
[[nodiscard]] std::vector<Expectation> summarised(const Outcomes& outcomes);

/// `text` with one family's lines replaced by `lines`: sorted, comments kept at the head.
[[nodiscard]] Result<std::string> updated(std::string_view text, std::string_view family,
                                          const std::vector<Expectation>& lines);

}  // namespace collage::conformance
