// Parts of a tune that are left out, so that an evaluation can say what they are worth (tools/evaluate.py).
// In:  a pool, what is left out. Out: a smaller pool. The other switches are read where the part is.
// With any of them no engine ships: the plan is the best of the covers that are left.
// Source: the baselines of Collage (Jeon et al., PACT 2022): greedy placement by the size of patterns, and by the order
//         of backends, as ONNX Runtime's execution providers take nodes.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "region/candidates.h"

namespace collage {

/// Who decides which backend takes which nodes.
enum class Placement : std::uint8_t {
  kSearch,        ///< costs
  kLargestFirst,  ///< the largest region first; of equal ones that of the backend named first
  kBackendOrder   ///< each backend in the order of their names takes what it can, its largest regions first
};

struct Ablations {
  bool formats = false;     ///< values between steps have the plain format
  bool borders = false;     ///< conversions and launches count as free when a cover is chosen
  bool correction = false;  ///< costs are not corrected by what steps take inside of plans
  bool evolution = false;   ///< no covers beside those of the exact search
  Placement placement = Placement::kSearch;
  bool operator==(const Ablations&) const = default;
  [[nodiscard]] bool any() const { return *this != Ablations(); }
  /// A placement that is not searched is not improved either.
  [[nodiscard]] bool improves() const { return placement == Placement::kSearch; }
};

/// "formats", "borders", "correction", "evolution", "largest-first", "backend-order"; the error says which are allowed.
[[nodiscard]] std::expected<Ablations, std::string> ablations_from(const std::vector<std::string>& names);
/// Their names, divided by commas; empty for none.
[[nodiscard]] std::string to_text(const Ablations& ablations);

/// `backends` in the user's order; others, such as the host, come after them.
[[nodiscard]] CandidatePool ablated(CandidatePool pool, const Graph& graph, const std::vector<std::string>& backends,
                                    const Ablations& ablations);

}  // namespace collage
