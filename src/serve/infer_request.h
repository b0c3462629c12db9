// A request for inference, as the client wrote it: names, types, shapes, elements; nothing of it is checked against a
// model (serve/infer_inputs.h does that).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/type.h"
#include "serve/json_data.h"

namespace collage {

struct RequestedInput {
  std::string name;
  std::string datatype;
  std::optional<Extents> shape;
  std::optional<JsonData> data;
  std::optional<std::uint64_t> binary_bytes;  ///< the tensor is so many bytes behind the JSON text
};

struct RequestedOutput {
  std::string name;
  std::optional<bool> is_binary;
};

struct InferRequest {
  std::string id;
  std::optional<std::uint64_t> timeout_us;
  bool binary_outputs = false;  ///< of outputs that do not say it themselves
  std::vector<RequestedInput> inputs;
  std::optional<std::vector<RequestedOutput>> outputs;  ///< nothing = all of the model
};

}  // namespace collage
