#include "tune/work_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace collage {

Result<WorkFolder> WorkFolder::create() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string pattern = (parent / "collage-XXXXXX").string();
  if (error || !::mkdtemp(pattern.data()))
    return fail(ExitCode::kIo, "io/cannot-write", parent.string(), std::strerror(errno), "a writable temporary folder");
  return WorkFolder(std::move(pattern));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace collage
