// Makes the report of a tune from its results.
// In:  the pool with costs, the contest with its winner, alternatives. Out: bounds, a TuneReport.
// Cost: one search for the proven bound when some candidates were not measured.
// Not here: the explanation (tune/explain/), JSON (report.h).
#pragma once

#include <optional>
#include <string>

#include "tune/confirm/contest.h"
#include "tune/explain/alternatives.h"
#include "tune/price/priced.h"
#include "tune/report/report.h"

namespace collage {

/// What it refers to outlives it.
struct TuneResult {
  const TuneTask& task;
  const Priced& priced;
  const Contest& contest;  ///< with a winner
  const Alternatives& alternatives;
};

/// The best cover under costs measured alone, and what no cover can undercut.
struct CoverBounds {
  std::optional<Cover> best;  ///< nothing without covers, then the others are 0
  std::int64_t cover_ns = 0;
  std::int64_t model_ns = 0;   ///< under the cost table
  std::int64_t proven_ns = 0;  ///< whatever was not measured would cost; 0 = not known
};

/// The cheapest cover is the one that ships where regions became candidates after the searches.
[[nodiscard]] CoverBounds cover_bounds(const TuneResult& result);

/// `plan` is the winner's.
[[nodiscard]] TuneReport report_on(const TuneResult& result, const CoverBounds& bounds, const Plan& plan);

/// For people: why there is no mixed plan. Precondition: there are no covers.
[[nodiscard]] std::string why_no_covers(const Priced& priced, const MeasureEnv& env);

}  // namespace collage
