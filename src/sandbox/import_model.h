// Imports a model file in a process of its own, which protobuf, ONNX's checker and its shape inference cannot get out
// of: a file that makes them crash, hang or take all memory costs an error. In:  a path, options of import, the argv of
// a worker. Out: Imported, as import_model() gives it. How: a worker reads the file, gives up everything but reading
// (worker/confine.h), imports, writes the result into a
//       memory file and is ended; then the result is read, by code that takes nothing for granted (import_file.h).
// Cost: the start of a process, and one copy of the weights inside the file. Weights beside the file stay there.
// Not checked again: that attributes keep the rules of operators (onnx/rules), which import does in the process.
#pragma once

#include <string>

#include "onnx/import_arrays.h"
#include "sandbox/model_reader.h"

namespace collage {

/// The reader's limits are used, not those in `options`. Errors: those of import_model_for(); import/reader-died when
/// the process crashed; import/limit when it took more memory or time than the limits allow; worker/cannot-start,
/// sandbox/*.
[[nodiscard]] Result<Imported> import_apart(const std::string& path, ImportOptions options, const ModelReader& reader,
                                            const ArrayShapes& arrays = {});

}  // namespace collage
