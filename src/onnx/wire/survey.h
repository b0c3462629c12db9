// Looks over the bytes of a model before a parser allocates anything for them.
// In:  bytes and limits. Out: nothing, or what is wrong and at which byte.
// How: walks the wire format with ONNX's own message descriptors and a stack of bounded size. Counts what each kind of
//      message would cost: two bytes in the file can be 300 in memory.
// Cost: a pass over the keys; weights are skipped, packed lists of integers are read once.
// Not here: whether the message makes sense.
#pragma once

#include <string>
#include <string_view>

#include "onnx/limits.h"

namespace collage {

/// Messages inside each other that the parser must be able to follow: a body is a graph in an attribute of a node, and
/// a few more may follow inside the innermost.
[[nodiscard]] constexpr int message_depth(const ImportLimits& limits) {
  return static_cast<int>(3 * limits.depth + 28);
}

/// Errors: import/limit; import/truncated and import/not-onnx for bytes that are no message; import/invalid-model for
/// names that are not UTF-8.
[[nodiscard]] Result<void> survey_message(std::string_view bytes, const ImportLimits& limits, const std::string& where);

}  // namespace collage
