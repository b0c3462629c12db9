// Exports a region as an ONNX model for an engine. A port in channels_last becomes a Transpose at the model's border,
// which engines merge into their own layouts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace collage {

/// Constants of more bytes than this may lie outside the model; engines read shapes from smaller ones.
inline constexpr std::size_t kInlineConstantBytes = 1024;

enum class Weights { kInside, kOutside };

struct RegionModel {
  std::string bytes;               ///< a serialised ModelProto
  std::vector<ValueId> constants;  ///< of the request's graph: number i lies in the external file "c<i>" from offset 0
};

/// @param opset  version of ai.onnx the model is labelled with; 0 = the graph's own.
/// Inputs and outputs come in the region's order under port_name(). channels_last ports must be static.
[[nodiscard]] RegionModel region_model(const CompileRequest& request, Weights weights, std::int64_t opset = 0);

/// The request's model_bytes, less the weights that are constants of its region.
[[nodiscard]] RegionModel user_model(const CompileRequest& request);

/// The name of the constant file number `i`.
[[nodiscard]] std::string constant_file(std::size_t i);

/// The name a port has in the region's model. Values keep their own names inside, since bodies capture by name.
[[nodiscard]] std::string port_name(const std::string& value_name, const Format& format);

}  // namespace collage
