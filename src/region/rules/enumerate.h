// The functions behind enumerate() (partition_rule.h), one for each kind of rule, where they have files of their own.
// In:  a rule and a context. Out: proposals.
// Cost: see partition_rule.h.
#pragma once

#include <vector>

#include "region/rules/partition_rule.h"

namespace collage {

/// Runs of taken nodes, maximal connected regions of them, and few-way splits of the runs.
[[nodiscard]] std::vector<Proposal> maximal(const MaximalForm& form, const RuleContext& context);
/// Ranges between narrow places: blocks in doubling lengths, heads and tails.
[[nodiscard]] std::vector<Proposal> ranges(const RangesForm& form, const RuleContext& context);
/// `base` closed under the form's growing rules: base first, then what grew, in a fixed order.
[[nodiscard]] std::vector<Proposal> closure(const CombineForm& form, std::vector<Proposal> base,
                                            const RuleContext& context);

/// Keeps the first of the proposals that compute the same nodes under the same labels.
[[nodiscard]] std::vector<Proposal> without_duplicates(std::vector<Proposal> proposals);

/// Whether the context's backend takes the nodes; true where it has none.
[[nodiscard]] bool takes(const RuleContext& context, const NodeSet& nodes);

}  // namespace collage
