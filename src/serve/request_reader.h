// Reads the JSON text of a request for inference.
// In:  text from anyone. Out: an InferRequest.
// How: events of the parser, without a tree in memory, so that a text needs at most eight times its size, and so much
//      while a list grows or becomes a tensor: an element of two characters takes eight bytes in each of the two.
//      Lists and objects may be nested 32 deep.
#pragma once

#include <string_view>

#include "base/error.h"
#include "serve/infer_request.h"

namespace collage {

/// Errors (bad input): serve/malformed-json; serve/bad-request for a key with a wrong type of value, given twice or
/// missing; serve/unsupported for what this server does not do (sequences, shared memory, classification, strings).
[[nodiscard]] Result<InferRequest> read_infer_request(std::string_view text);

}  // namespace collage
