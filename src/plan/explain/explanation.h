// The explanation of a plan, as data: for each node the backend that runs it, the second best choice, refusals, and
// what was not measured.
// In:  facts that a tune gathered (tune/explain/explanation.h). Out: one JSON object inside plan.json, which `explain`
//       reads. It is kept small: candidates, refusals and rules are written once and referred to by position; sets of
//       nodes are ranges.
// The three losses are those of TVM's RFC 62 (Collage), section "Drawbacks".
// Not here: text (plan/explain/explain.h), answers to single questions (plan/explain/why_not.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "region/place.h"

namespace collage {

using Nanoseconds = std::int64_t;
/// Multiplications and additions.
using Operations = std::int64_t;

/// How a margin is known; each one is a cost that some plan really has, so the true margin is not above it.
enum class MarginBy : std::uint8_t {
  kNothing,   ///< no plan with the candidate is known
  kExchange,  ///< this cover with the candidate put in its place, everything else kept, under the cost table
  kCover,     ///< another cover that uses it, under the cost table
  kEndToEnd   ///< another plan that uses it, both timed end to end
};

/// Why a candidate's time was never taken.
enum class Unmeasured : std::uint8_t {
  kUnknown,    ///< the plan does not say
  kStopped,    ///< the user stopped the tune before its turn
  kOutOfTime,  ///< the budget ran out before its turn
  kNotNeeded   ///< forecasts said that no best cover would use it
};

struct ExplainedCandidate {
  std::string backend;
  std::string variant;
  std::vector<std::uint32_t> nodes;             ///< positions in Explanation::nodes, ascending
  std::vector<std::uint32_t> repeated;          ///< of these, the ones that another step runs as well
  std::optional<Nanoseconds> cost_ns;           ///< alone; nothing when it was never measured
  bool estimated = false;                       ///< cost_ns is no measurement
  std::optional<Nanoseconds> cost_at_least_ns;  ///< where never measured: what it takes at the very least
  MarginBy margin_by = MarginBy::kNothing;
  std::optional<Nanoseconds> margin_ns;           ///< what a plan that uses it costs more than the one explained
  std::optional<Nanoseconds> margin_at_least_ns;  ///< where never measured: what any plan that uses it costs more
  Unmeasured why_unmeasured = Unmeasured::kUnknown;
  // How it takes and leaves the values at its border, in the order of its region (region/region.h). Empty = all plain.
  std::vector<std::string> input_formats = {};
  std::vector<std::string> output_formats = {};
  std::string location = kHome;  ///< where it runs and these values lie
  bool operator==(const ExplainedCandidate&) const = default;
};

/// The cheapest way from one place to another, for all values that it costs the same.
struct ExplainedConversion {
  std::string from;  ///< to_string() of a place (region/place.h)
  std::string to;
  std::string backend;
  Nanoseconds ns = 0;                 ///< 0 = a view
  bool estimated = false;             ///< nobody measured it
  std::vector<std::uint32_t> values;  ///< positions in ExplainedProblem::values
  bool operator==(const ExplainedConversion&) const = default;
};

/// What it takes to choose a cover again from the explained candidates (tune/explain/what_if.h).
struct ExplainedProblem {
  std::vector<std::string> values;     ///< names of those that nodes compute or the caller gives; no constants
  std::vector<std::uint32_t> inputs;   ///< of the graph: positions in values, as in ExplainedNode
  std::vector<std::uint32_t> outputs;  ///< likewise
  std::vector<ExplainedConversion> conversions;
  Nanoseconds launch_ns = 0;  ///< of every kernel and conversion that is no view
  bool operator==(const ExplainedProblem&) const = default;
};

struct ExplainedRefusal {
  std::string backend;
  std::string variant;  ///< "" when the backend refused before there was one
  std::string reason;   ///< name_of(RefusalReason)
  std::string detail;
  std::uint32_t nodes = 1;  ///< size of the region it was asked about
  auto operator<=>(const ExplainedRefusal&) const = default;
};

/// What the steps of a cover add up to; the parts add up to cover_ns.
struct ExplainedSum {
  Nanoseconds measured_ns = 0;   ///< of the steps that were timed, each alone
  Nanoseconds estimated_ns = 0;  ///< of those with an estimate in place of a time
  Nanoseconds launch_ns = 0;     ///< of all that is not a view
  std::uint32_t measured = 0;    ///< steps
  std::uint32_t estimated = 0;
  bool operator==(const ExplainedSum&) const = default;
};

/// --pin or --ban.
struct ExplainedRule {
  bool is_pin = false;
  std::string glob;
  std::string backend;
  bool operator==(const ExplainedRule&) const = default;
};

/// A line of --rules that bears on which regions there are.
struct ExplainedUserRule {
  std::string where;          ///< "FILE:LINE"
  std::string text;           ///< the line
  std::string backend;        ///< an instance, a kind, or "*"
  bool takes_others = false;  ///< the nodes it names are one step of `backend` and of nobody else
  bool operator==(const ExplainedUserRule&) const = default;
};

struct ExplainedNode {
  std::string name;
  Operations flops = 0;                    ///< as the operator is defined; 0 where they are not counted
  std::vector<std::uint32_t> inputs = {};  ///< positions in ExplainedProblem::values, each once
  std::vector<std::uint32_t> outputs = {};
  std::uint32_t chosen = 0;               ///< position in Explanation::candidates
  std::vector<std::uint32_t> offers;      ///< the best other candidate of each backend, cheapest first
  std::vector<std::uint32_t> unmeasured;  ///< likewise of those never measured, in the order they were proposed
  std::vector<std::uint32_t> refusals;    ///< positions in Explanation::refusals
  std::vector<std::uint32_t> rules;       ///< positions in Explanation::rules: those that name the node
  std::vector<std::uint32_t> user_rules;  ///< positions in Explanation::user_rules: likewise
  bool operator==(const ExplainedNode&) const = default;
};

/// Another of the best covers; it differs in more than copies of one block from all that are cheaper.
struct ExplainedAlternative {
  Nanoseconds cost_ns = 0;           ///< sum of the costs of its steps, conversions and launches
  std::uint32_t changed = 0;         ///< nodes that change hands: another candidate covers them
  std::vector<std::uint32_t> steps;  ///< positions in Explanation::candidates: its steps that the cover does not have
  bool operator==(const ExplainedAlternative&) const = default;
};

/// A step that stores or computes numbers in 16 bits.
struct ExplainedNarrowStep {
  std::uint32_t step = 0;              ///< of the plan
  std::string element;                 ///< "bf16", "f16"
  std::optional<Nanoseconds> gain_ns;  ///< what the best candidate in full precision for its nodes takes longer, alone
  std::optional<double> share;         ///< of the bound on outputs: what its own error takes; nothing if not measured
  bool operator==(const ExplainedNarrowStep&) const = default;
};

/// How the outputs of a plan with such steps keep to their bound. Shares of the bound are at most 1 inside it.
struct ExplainedPrecision {
  std::string bound;                      ///< "fast", "max=1e-3" (numbers/output_bound.h)
  double share = 0;                       ///< that the outputs' largest error takes, on all sets of inputs
  std::uint32_t sets = 0;                 ///< of inputs
  std::optional<double> predicted_share;  ///< from the errors of the steps on the recorded inputs
  std::vector<ExplainedNarrowStep> steps;
  bool operator==(const ExplainedPrecision&) const = default;
};

/// What so many threads as the plan has reach at best on the machine of the tune.
struct ExplainedPeak {
  double flops_per_ns = 0;         ///< of 32 bits
  double cache_bytes_per_ns = 0;   ///< from and to the first cache
  double memory_bytes_per_ns = 0;  ///< from and to memory, of one thread: more of them share the memory
  bool operator==(const ExplainedPeak&) const = default;
};

struct Explanation {
  std::string plan;   ///< the plan explained: the one that ships
  std::string cover;  ///< the cover that costs, gaps and losses are of: the same, or the best one a rival has beaten
  std::vector<std::string> backends;          ///< that might take nodes
  std::vector<std::string> fillers;           ///< that take only what those refuse
  std::string only;                           ///< of --only, else ""
  std::map<std::string, std::string> absent;  ///< asked for but not usable here, and why

  std::optional<Nanoseconds> cover_ns;         ///< sum of the costs of the cover's steps, conversions and launches
  ExplainedSum sum;                            ///< what that is made of
  std::optional<Nanoseconds> model_bound_ns;   ///< no cover costs less under the cost table; at most cover_ns
  std::optional<Nanoseconds> proven_bound_ns;  ///< no cover costs less, whatever was not measured; at most the former
  std::optional<Nanoseconds> measured_ns;      ///< the cover end to end
  std::optional<Nanoseconds> apparent_loss_ns;
  std::string apparent_loss_against;  ///< the best plan of a single backend

  std::vector<ExplainedCandidate> candidates;
  std::vector<ExplainedRefusal> refusals;
  std::vector<ExplainedRule> rules;
  std::vector<ExplainedUserRule> user_rules;
  std::map<std::string, std::string> proposals;    ///< backend -> the rules by which it was asked about regions
  std::vector<ExplainedAlternative> alternatives;  ///< to the cover, cheapest first
  bool alternatives_complete = false;  ///< no other cover comes between; false when a limit ended the search for them
  std::string why_no_alternatives;     ///< "" when they were searched
  std::vector<ExplainedNode> nodes;    ///< of the simplified graph, in order
  std::optional<ExplainedPrecision> precision;  ///< of a cover with steps in 16 bits
  std::optional<ExplainedPeak> peak;
  ExplainedProblem problem;  ///< empty in plans of older versions
  bool operator==(const Explanation&) const = default;
};

/// cover - bound: how far the cover may be from the best one. Nothing when one of them is not known.
[[nodiscard]] std::optional<Nanoseconds> model_gap_ns(const Explanation& explanation);
[[nodiscard]] std::optional<Nanoseconds> proven_gap_ns(const Explanation& explanation);
/// measured - sum of the costs: what adding up gets wrong.
[[nodiscard]] std::optional<Nanoseconds> additive_error_ns(const Explanation& explanation);
/// measured - proven bound: the optimum is not further away, as far as costs add up. An upper bound on the loss.
[[nodiscard]] std::optional<Nanoseconds> optimality_loss_ns(const Explanation& explanation);

/// The candidate that came second at a node: the cheapest offer, else one that was never measured.
[[nodiscard]] const ExplainedCandidate* runner_up_of(const Explanation& explanation, const ExplainedNode& node);
/// The node of this name; null when the graph explained has none.
[[nodiscard]] const ExplainedNode* find_node(const Explanation& explanation, std::string_view name);

/// "exchange", "cover", "end-to-end"; "" for kNothing.
[[nodiscard]] std::string_view name_of(MarginBy by);
/// "stopped", "out-of-time", "not-needed"; "" for kUnknown.
[[nodiscard]] std::string_view name_of(Unmeasured why);

/// "0-3,7": ascending positions as one line, whatever the size of the set.
[[nodiscard]] std::string ranges_text(const std::vector<std::uint32_t>& positions);

}  // namespace collage
