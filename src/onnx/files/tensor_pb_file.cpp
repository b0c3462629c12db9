#include <cerrno>
#include <cstring>
#include <fstream>

#include "onnx/files/model_file.h"
#include "onnx/files/tensor_file.h"
#include "onnx/tensor_proto.h"

namespace collage {

Result<Tensor> read_tensor_pb(const std::string& path) {
  auto file = read_model_file(path);
  if (!file) {
    Error error = std::move(file).error();
    error.code = error.code == "import/not-found" ? "tensor/not-found" : "tensor/cannot-read";
    error.allowed = "a serialised TensorProto";
    return std::unexpected(std::move(error));
  }
  pb::TensorProto message;
  if (!message.ParseFromString(file->bytes) || message.data_type() == 0)
    return fail(ExitCode::kBadInput, "tensor/malformed", path, "bytes that are not a TensorProto",
                "a serialised TensorProto");
  auto tensor = to_tensor(message, path);
  if (!tensor) {
    Error error = std::move(tensor).error();
    const bool is_type = error.code == "import/unsupported-type";
    error.code = is_type ? "tensor/unsupported-type" : "tensor/malformed";
    if (is_type) error.exit = ExitCode::kBadInput;  // of an array, not of a model: as for .npy
    return std::unexpected(std::move(error));
  }
  return tensor;
}

Result<void> write_tensor_pb(const std::string& path, const Tensor& tensor) {
  pb::TensorProto message;
  write_tensor(tensor, "", message);
  std::ofstream file(path, std::ios::binary);
  if (message.SerializeToOstream(&file) && file.flush()) return {};
  return fail(ExitCode::kIo, "tensor/cannot-write", path, std::strerror(errno), "a file that can be written");
}

}  // namespace collage
