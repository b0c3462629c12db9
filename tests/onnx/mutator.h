// Changes valid models field by field: dimensions, attributes, indices, names, types, initialisers. Flipped bytes
// mostly end in the parser; these get behind it.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>

namespace collage::testing {

/// Changes one to three fields, the same ones for the same seed.
void mutate(::onnx::ModelProto& model, std::uint64_t seed);

}  // namespace collage::testing
