// Converts an ONNX message to a Graph: names become ids, initialisers become constants, and values that a body reads
// from outside become captures. Used by import after conversion, and by read_graph() for files that export.h wrote.
#pragma once

#include "ir/graph.h"
#include "onnx/files/external_data.h"
#include "onnx/files/parked.h"
#include "onnx/proto.h"

namespace collage {

/// Where the data of initialisers may lie, besides in the message. Both may be null.
struct TensorSources {
  const ParkedWeights* parked = nullptr;
  ExternalFiles* files = nullptr;
};

/// Values come in the order inputs, captures, initialisers, node outputs, unless the message notes another.
/// Errors: import/invalid-model, import/unsupported-attribute, import/bad-tensor, import/external-data.
[[nodiscard]] Result<Graph> to_graph(const pb::ModelProto& model, const TensorSources& sources);

}  // namespace collage
