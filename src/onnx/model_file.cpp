#include "onnx/model_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

namespace collage {

Result<ModelFile> read_model_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return fail(ExitCode::kIo, "import/not-found", path, "no such file", "the path of an ONNX model");
  if (error) return fail(ExitCode::kIo, "import/cannot-read", path, error.message());
  if (status.type() != fs::file_type::regular)
    return fail(ExitCode::kBadInput, "import/not-a-file", path, "not a regular file", "the path of an ONNX model");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return fail(ExitCode::kIo, "import/cannot-read", path, error.message());
  if (size == 0) return fail(ExitCode::kBadInput, "import/empty", path, "0 bytes", "an ONNX model");
  if (size > std::numeric_limits<std::int32_t>::max())
    return fail(ExitCode::kLimit, "import/too-large", path, std::to_string(size) + " bytes",
                "at most 2147483647 bytes; keep larger weights in external data");

  ModelFile file{.path = path, .bytes = std::string(size, '\0'), .folder = fs::path(path).parent_path().string()};
  if (file.folder.empty()) file.folder = ".";
  std::ifstream stream(path, std::ios::binary);
  if (!stream || !stream.read(file.bytes.data(), static_cast<std::streamsize>(size)))
    return fail(ExitCode::kIo, "import/cannot-read", path, std::strerror(errno));
  return file;
}

}  // namespace collage
