// Import of a model for arrays that are at hand: where the user did not say an extent, the arrays do.
// In: a model file, the user's shapes, the extents of arrays by input. Out: as import.h.
// Cost: an import.
#pragma once

#include <map>
#include <string>

#include "onnx/import.h"

namespace collage {

/// Extents of the array for an input, by the input's name.
using ArrayShapes = std::map<std::string, Extents>;

/// As import_model. An input with open dimensions that no entry of options.shapes names takes the extents of its array,
/// and with them its dimensions in other inputs. Names that no input has are left to who reads the arrays.
[[nodiscard]] Result<Imported> import_model_for(const std::string& path, const ImportOptions& options,
                                                const ArrayShapes& arrays);

}  // namespace collage
