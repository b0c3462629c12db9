// Reads an ONNX file as bytes, without parsing or checking it.
#pragma once

#include <string>

#include "base/error.h"

namespace collage {

struct ModelFile {
  std::string path;  ///< as given, for messages
  std::string bytes;
  std::string folder;            ///< where external data is looked for; nothing outside it is read
  std::string real_folder = {};  ///< of the file that a symbolic link leads to; empty: the path is none
};

/// Reads a whole model file. "-" is standard input. A pipe can be read once only, so its content is kept for the
/// lifetime of the process; the external data of such a model is looked up in the current folder.
/// Errors: import/not-found (io), import/not-a-file, import/empty, import/too-large (over protobuf's 2 GiB),
/// import/cannot-read (io).
[[nodiscard]] Result<ModelFile> read_model_file(const std::string& path);

/// Whether the file can be read again with the same result, unless it was changed: false for the pipe of another
/// process.
[[nodiscard]] bool can_read_again(const std::string& path);

}  // namespace collage
