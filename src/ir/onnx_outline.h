// Tells from its top-level fields whether a file looks like an ONNX model, without parsing it.
// In:  bytes. Out: a verdict.
// Cost: reads the key of each top-level field and skips its content.
// Source: the wire format of Protocol Buffers. Unknown fields are skipped, as newer versions of ONNX may add some.
#pragma once

#include <cstdint>
#include <string_view>

namespace collage {

enum class Outline : std::uint8_t {
  kModel,   ///< whole fields up to the end
  kCutOff,  ///< starts like a model and ends inside a field
  kOther
};

[[nodiscard]] Outline outline_of(std::string_view bytes);

}  // namespace collage
