// An ONNX file as bytes, before anything is believed about it.
#pragma once

#include <string>

#include "base/error.h"

namespace collage {

struct ModelFile {
  std::string path;  ///< as given, for messages
  std::string bytes;
  std::string folder;  ///< where external data is looked for; nothing outside it is read
};

/// Reads a model file whole. "-" is the standard input. A pipe is read to its end and, because it gives its bytes once,
/// kept for the life of the process; external data of it is looked for in the current folder.
/// Errors: import/not-found (io), import/not-a-file, import/empty, import/too-large (over protobuf's 2 GiB),
/// import/cannot-read (io).
[[nodiscard]] Result<ModelFile> read_model_file(const std::string& path);

/// Whether reading it now gives what reading it earlier gave, unless the file has changed: not so for the pipe of
/// another process.
[[nodiscard]] bool can_read_again(const std::string& path);

}  // namespace collage
