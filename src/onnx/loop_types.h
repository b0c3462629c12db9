// Exporters declare the values that a Loop carries with the shapes of the first iteration, also where each iteration
// makes them longer. What inference derives from such a declaration is wrong from the second iteration on.
#pragma once

#include "onnx/proto.h"

namespace collage {

/// Opens, in the types of bodies' inputs, the extents that an iteration changes as the inferred types of the bodies'
/// outputs say; an input whose rank changes loses its shape. True if there was one: types have to be inferred again.
[[nodiscard]] bool open_changing_inputs(pb::GraphProto& graph);

}  // namespace collage
