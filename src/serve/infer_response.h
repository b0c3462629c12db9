// The answer to a request for inference: JSON text, behind it the outputs that the client wants as bytes.
#pragma once

#include <string>
#include <vector>

#include "runtime/tensor_port.h"
#include "serve/infer_request.h"
#include "serve/pending_request.h"

namespace collage {

struct InferResponse {
  std::string json;
  std::vector<std::string> binary;  ///< tensors behind the JSON text, in the order of its outputs
};

/// Of a request without an error, whose outputs are moved from. Outputs are in the order of the request, else of the
/// model. Errors (bad input): serve/needs-binary for f16 and bf16 as JSON; serve/not-finite for NaN and infinity as
/// JSON, which has no such numbers.
[[nodiscard]] Result<InferResponse> make_response(const std::string& model, const InferRequest& request,
                                                  const std::vector<TensorPort>& ports, PendingRequest& pending);

}  // namespace collage
