// Fits a request to a model: which bytes are which input, which outputs are wanted.
// In:  an InferRequest, the bytes behind its JSON text, a loaded plan. Out: a PendingRequest that can be queued.
// Not here: running it.
#pragma once

#include <span>

#include "serve/infer_request.h"
#include "serve/model.h"
#include "serve/pending_request.h"

namespace collage {

/// The bytes of inputs stay in `binary`, which outlives the request; elements that were JSON move out of it. Errors
/// (bad input): input/missing, input/unknown-name, output/unknown-name, input/wrong-shape, shape/outside,
/// shape/no-case, serve/duplicate-input, serve/duplicate-output, serve/wrong-datatype, serve/wrong-size,
/// serve/too-large, serve/no-data, those of JsonData::bytes().
[[nodiscard]] Result<void> fill_pending(InferRequest& request, std::span<const std::byte> binary, const Model& model,
                                        PendingRequest& pending);

}  // namespace collage
