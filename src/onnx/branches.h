// Replaces an If node by one of its branches when the choice is known at import: its condition is constant, or the
// other branch cannot have valid shapes once the open dimensions are bound (for example in a voice model for two sample
// rates). Engines refuse to load a model with such an invalid branch.
#pragma once

#include <string>
#include <vector>

#include "onnx/proto.h"
#include "onnx/schemas/contrib_schemas.h"

namespace collage {

/// Gives every If a unique name, so that inference can distinguish them.
void name_branches(pb::GraphProto& graph);

/// Replaces decided Ifs by the nodes of the branch they take, also inside bodies; returns how many. A branch dropped
/// because it does not fit leaves a note.
[[nodiscard]] int inline_decided_branches(pb::GraphProto& graph, const UnfitBranches& unfit,
                                          std::vector<std::string>& notes);

}  // namespace collage
