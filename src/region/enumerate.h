// The parts of enumerate() that have files of their own; see partition_rule.h for what they mean.
// In: a rule and a context. Out: proposals, one function for each kind of rule.
// Cost: see partition_rule.h.
#pragma once

#include <vector>

#include "region/partition_rule.h"

namespace collage {

/// Runs of taken nodes, maximal connected regions of them, and few-way splits of the runs.
[[nodiscard]] std::vector<Proposal> maximal(const MaximalForm& form, const RuleContext& context);
/// Ranges between narrow places: blocks in doubling lengths, heads and tails.
[[nodiscard]] std::vector<Proposal> ranges(const RangesForm& form, const RuleContext& context);
/// `base` closed under the form's growing rules: base first, then what grew, in a fixed order.
[[nodiscard]] std::vector<Proposal> closure(const CombineForm& form, std::vector<Proposal> base,
                                            const RuleContext& context);

/// Keeps the first of the proposals that compute and absorb the same.
[[nodiscard]] std::vector<Proposal> without_duplicates(std::vector<Proposal> proposals);

/// The context's word, yes where it has none.
[[nodiscard]] bool takes(const RuleContext& context, const NodeSet& nodes);

}  // namespace collage
