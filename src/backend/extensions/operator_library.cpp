#include "backend/extensions/operator_library.h"

#include <filesystem>

#include "base/file.h"
#include "base/hash.h"

namespace collage {

Result<OperatorLibrary> read_operator_library(const std::string& path) {
  auto file = read_file(path);
  if (!file)
    return fail(ExitCode::kIo, "operators/missing", path, file.error().saw, "a library of operators that can be read");
  std::error_code ignored;
  return OperatorLibrary{.path = std::filesystem::absolute(path, ignored).string(), .hash = hash_hex(file->text())};
}

}  // namespace collage
