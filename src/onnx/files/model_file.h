// Reads an ONNX file as bytes, without parsing or checking it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/error.h"
#include "onnx/files/beside_model.h"

namespace collage {

struct ModelFile {
  std::string path;   ///< as given, for messages
  std::string bytes;  ///< a copy; or the file itself:
  Buffer mapped = {};
  ModelFolders folders;  ///< where external data is looked for; nothing outside is read

  [[nodiscard]] std::string_view contents() const { return mapped.size() > 0 ? mapped.text() : bytes; }
};

/// kMapped: of a regular file, which saves a copy. Who changes the file meanwhile changes what is parsed, who shortens
/// it ends the process: where that may be.
enum class ModelBytes : std::uint8_t { kCopied, kMapped };

/// Reads a whole model file. "-" is standard input. A pipe can be read once only, so its content is kept for the
/// lifetime of the process; the external data of such a model is looked up in the current folder.
/// Errors: import/not-found (io), import/not-a-file, import/empty, import/too-large (over protobuf's 2 GiB),
/// import/cannot-read (io).
[[nodiscard]] Result<ModelFile> read_model_file(const std::string& path, ModelBytes how = ModelBytes::kCopied);

/// Where read_model_file() of this path lets files of the model lie.
[[nodiscard]] ModelFolders model_folders(const std::string& path);

/// Whether the path names a pipe, or something open in this process alone.
[[nodiscard]] bool is_only_here(const std::string& path);

/// Whether the file can be read again with the same result, unless it was changed: false for the pipe of another
/// process.
[[nodiscard]] bool can_read_again(const std::string& path);

}  // namespace collage
