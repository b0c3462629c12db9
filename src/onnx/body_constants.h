// Gives bodies of control-flow operators copies of the small whole-number constants that they capture: shape inference
// looks at the constants of a body's own graph only, and a Reshape, Slice or reduction without its operand's numbers
// has a result of unknown rank.
#pragma once

#include "onnx/proto.h"

namespace collage {

/// Copies constants of at most kMostBodyConstant elements, under new names, into the bodies whose nodes read them.
/// Initialisers of graphs; Constant nodes are initialisers already.
void copy_constants_into_bodies(pb::GraphProto& graph);

inline constexpr std::size_t kMostBodyConstant = 64;

}  // namespace collage
