// What a client may ask about a model: its inputs and outputs, whether requests are joined.
#pragma once

#include <string>

#include "serve/model.h"

namespace collage {

/// The protocol's metadata: name, versions, platform, inputs, outputs. Open extents are -1.
[[nodiscard]] std::string model_metadata_json(const std::string& name, const Model& model);
/// The part of Triton's model configuration that load programs read. Where requests are joined, max_batch_size is the
/// most rows, and shapes are without the first axis, as that form has it.
[[nodiscard]] std::string config_json(const std::string& name, const Model& model);

}  // namespace collage
