// Inlines If nodes whose branch is decided: by a constant condition, or because the other branch cannot run with the
// shapes that the user bound (a voice model for two sample rates, say). Engines refuse to load a branch that does not
// fit.
#pragma once

#include <string>
#include <vector>

#include "onnx/contrib_schemas.h"
#include "onnx/proto.h"

namespace collage {

/// Gives every If a name of its own, so that inference can tell them apart.
void name_branches(pb::GraphProto& graph);

/// Replaces decided Ifs by the nodes of the branch they take, also inside bodies; returns how many. A branch dropped
/// because it does not fit leaves a note.
[[nodiscard]] int inline_decided_branches(pb::GraphProto& graph, const UnfitBranches& unfit,
                                          std::vector<std::string>& notes);

}  // namespace collage
