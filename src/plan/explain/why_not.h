// Answers why a given backend does not run a given node, from the plan alone.
// In:  a plan with its explanation, a question. Out: a verdict with the facts that support it. Nothing is measured.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace collage {

struct WhyNotQuestion {
  std::string node;
  std::string backend;  ///< an instance, or a kind with all its instances
};

/// "NODE=BACKEND"; both may hold '=', so the longest NODE that the plan has is taken. A backend is known that the plan
/// names or whose kind is among `kinds`. Errors cli/bad-option, plan/no-such-node, plan/no-such-backend.
[[nodiscard]] Result<WhyNotQuestion> parse_why_not(const Plan& plan, const std::string& text,
                                                   std::span<const std::string> kinds = {});

enum class WhyNot : std::uint8_t {
  kRuns,          ///< the backend runs it
  kDearer,        ///< it offered, at a higher cost
  kCheaperAlone,  ///< its offer is cheaper under the cost table, but no plan with it won end to end
  kUnmeasured,    ///< it offered, but its time was never taken
  kPinned,        ///< --pin gives the node to another
  kBanned,        ///< --ban
  kRuled,         ///< a line of --rules makes the node part of a step of another
  kRefused,       ///< it refused, or failed when tried
  kAbsent,        ///< asked for, but not usable on the machine
  kFills,         ///< it takes only what the others refuse
  kOnly,          ///< --only names another
  kNotAsked,      ///< not among --backends
  kNoOffer,       ///< asked, but no candidate of it was left and no refusal is known
  kSimplified,    ///< the node is in the user's file only, which one engine runs as a whole
};
/// kebab-case: "runs", "dearer", "not-asked".
[[nodiscard]] std::string_view name_of(WhyNot verdict);

/// Errors plan/no-explanation, plan/no-such-node.
[[nodiscard]] Result<std::string> why_not_as_text(const Plan& plan, const WhyNotQuestion& question);
/// Schema "collage.why-not/1".
[[nodiscard]] Result<std::string> why_not_as_json(const Plan& plan, const WhyNotQuestion& question);

}  // namespace collage
