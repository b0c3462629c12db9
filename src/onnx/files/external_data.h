// Reads weights that are stored in files beside the model. Import copies them into the message; read_graph() maps them.
#pragma once

#include <map>
#include <string>

#include "base/buffer.h"
#include "onnx/proto.h"

namespace collage {

/// The files of one folder, mapped at most once each. A location must be a relative path that stays in the folder
/// after symbolic links are followed.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  /// The bytes of an external tensor, shared with the mapped file. `bytes` is the size that its dimensions require. If
  /// the tensor names a checksum, the file is compared with it.
  /// Errors: import/external-data (bad input), import/not-found (io).
  [[nodiscard]] Result<Buffer> bytes_of(const pb::TensorProto& message, std::size_t bytes, const std::string& where);

 private:
  Result<Buffer> file(const std::string& location, const std::string& where);
  /// Compares a file with the checksum that a tensor names; reads it once.
  Result<void> check(const std::string& location, const Buffer& mapped, std::string wanted, const std::string& where);

  std::string folder_;
  std::map<std::string, Buffer> files_;
  std::map<std::string, std::string> checksums_;  ///< of files, by location
};

/// Copies all external data into the model, and appends what was read to `hash_input`.
/// Errors as ExternalFiles, and import/too-large when the model would exceed 2 GiB.
[[nodiscard]] Result<void> load_external_data(pb::ModelProto& model, const std::string& folder,
                                              std::string& hash_input);

}  // namespace collage
