// How the top level of a file looks as an ONNX message, before it is parsed: a cheap test whether it is a model.
// In: bytes. Out: a verdict.
// Cost: one look at each top-level field; what is inside them is skipped.
// Source: the wire format of protobuf; fields that ONNX does not know yet, or others added, are skipped.
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
