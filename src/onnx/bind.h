// Binds open dimensions to the user's extents and turns initialisers that are also inputs into constants. Works on the
// ONNX message at the model's own opset, so that other engines can be given the same bound model.
#pragma once

#include <string>
#include <vector>

#include "ir/shape_bindings.h"
#include "onnx/import_arrays.h"
#include "onnx/proto.h"

namespace collage {

/// Takes initialisers out of the graph's inputs and raises the IR version to 4, since which that is legal.
void repair_initialisers(pb::ModelProto& model, std::vector<std::string>& notes);

/// Drops the types of inner values and the shapes of outputs, in bodies too. They may be outdated and then make
/// inference fail; all of them are inferred again.
void drop_declared_shapes(pb::GraphProto& graph);

/// The bindings, and the extents of an array for each open input that they do not name.
[[nodiscard]] ShapeBindings with_arrays(ShapeBindings bindings, const pb::GraphProto& graph, const ArrayShapes& arrays);

/// Writes the bound extents into the inputs. An input's entry binds its symbols in other inputs too, unless inputs
/// disagree. Errors: import/unbound-dimension, import/unknown-binding, import/shape-mismatch, shape/*.
[[nodiscard]] Result<void> bind_dimensions(pb::ModelProto& model, const ShapeBindings& bindings, bool allow_unbound,
                                           std::vector<std::string>& notes);

}  // namespace collage
