// Imports a model together with the arrays that it is to run on: open dimensions that the user did not bind take their
// extents from the arrays.
// In:  a model file, the user's shapes, the extents of the arrays by input name. Out: as import.h.
// Cost: one import.
#pragma once

#include <map>
#include <string>

#include "onnx/files/model_file.h"
#include "onnx/import.h"

namespace collage {

/// Extents of the array for an input, by the input's name.
using ArrayShapes = std::map<std::string, Extents>;

/// As import_model. An input with open dimensions that no entry of options.shapes names takes the extents of its array,
/// and with them its dimensions in other inputs. Unknown names are ignored here; reading the arrays reports them.
[[nodiscard]] Result<Imported> import_model_for(const std::string& path, const ImportOptions& options,
                                                const ArrayShapes& arrays);

/// The same for a file that was read already.
[[nodiscard]] Result<Imported> import_read(const ModelFile& file, const ImportOptions& options,
                                           const ArrayShapes& arrays);

}  // namespace collage
