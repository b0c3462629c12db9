// Reads weights that are stored in files beside the model. Import copies them into the message as far as it holds them;
// read_graph() maps them.
#pragma once

#include <map>
#include <string>

#include "base/buffer.h"
#include "onnx/files/beside_model.h"
#include "onnx/files/parked.h"
#include "onnx/proto.h"

namespace collage {

/// The files beside one model, mapped at most once each (onnx/files/beside_model.h).
class ExternalFiles {
 public:
  explicit ExternalFiles(ModelFolders folders) : folders_(std::move(folders)) {}

  /// The bytes of an external tensor, shared with the mapped file. `bytes` is the size that its dimensions require. If
  /// the tensor names a checksum, the file is compared with it.
  /// Errors: import/external-data (bad input), import/not-found (io).
  [[nodiscard]] Result<Buffer> bytes_of(const pb::TensorProto& message, std::size_t bytes, const std::string& where);

  /// Of the files that were read so far.
  [[nodiscard]] std::size_t total_bytes() const;
  /// Those, by location.
  [[nodiscard]] const std::map<std::string, Buffer>& read() const { return files_; }

 private:
  Result<Buffer> file(const std::string& location, const std::string& where);
  /// Compares a file with the checksum that a tensor names; reads it once.
  Result<void> check(const std::string& location, const Buffer& mapped, std::string wanted, const std::string& where);

  ModelFolders folders_;
  std::map<std::string, Buffer> files_;
  std::map<std::string, std::string> checksums_;  ///< of files, by location
};

struct LoadedData {
  bool is_large = false;                ///< weights stay in their files, since a message cannot hold them
  std::map<std::string, Buffer> files;  ///< those, mapped, by location
};

/// Copies all external data into the model, and appends the hashes of what was read to `hash_input`. Where a message
/// cannot hold it, initialisers stay in their mapped files and go to `parked`.
/// Errors as ExternalFiles, and import/too-large when the rest exceeds 2 GiB.
[[nodiscard]] Result<LoadedData> load_external_data(pb::ModelProto& model, const ModelFolders& folders,
                                                    std::string& hash_input, ParkedWeights& parked);

}  // namespace collage
