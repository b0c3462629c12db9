// Reads weights that are stored in files beside the model. Import copies them into the message as far as it holds them;
// read_graph() maps them.
#pragma once

#include <map>
#include <string>

#include "base/buffer.h"
#include "onnx/files/parked.h"
#include "onnx/proto.h"

namespace collage {

/// Where a model's files may lie.
struct ModelFolders {
  std::string named;      ///< of the path that the user gave; empty: there are no files
  std::string real = {};  ///< where symbolic links of that path lead; caches keep files and weights there together
};

/// The files of one folder, mapped at most once each. A location must be a relative path that stays in the folder, or
/// gets into the real one, after symbolic links are followed.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder, std::string real_folder = {})
      : folder_(std::move(folder)), real_folder_(std::move(real_folder)) {}

  /// The bytes of an external tensor, shared with the mapped file. `bytes` is the size that its dimensions require. If
  /// the tensor names a checksum, the file is compared with it.
  /// Errors: import/external-data (bad input), import/not-found (io).
  [[nodiscard]] Result<Buffer> bytes_of(const pb::TensorProto& message, std::size_t bytes, const std::string& where);

  /// Of the files that were read so far.
  [[nodiscard]] std::size_t total_bytes() const;

 private:
  Result<Buffer> file(const std::string& location, const std::string& where);
  /// Compares a file with the checksum that a tensor names; reads it once.
  Result<void> check(const std::string& location, const Buffer& mapped, std::string wanted, const std::string& where);

  std::string folder_;
  std::string real_folder_;
  std::map<std::string, Buffer> files_;
  std::map<std::string, std::string> checksums_;  ///< of files, by location
};

/// Copies all external data into the model, and appends the hashes of what was read to `hash_input`. Where a message
/// cannot hold it, initialisers stay in their mapped files and go to `parked`; the answer is then true.
/// Errors as ExternalFiles, and import/too-large when the rest exceeds 2 GiB.
[[nodiscard]] Result<bool> load_external_data(pb::ModelProto& model, const ModelFolders& folders,
                                              std::string& hash_input, ParkedWeights& parked);

}  // namespace collage
