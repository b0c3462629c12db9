#include "base/work_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "collage-work-";

/// A locked descriptor of the folder; -1 when another process has it, it is gone, or is not ours.
int lock(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat status {};
  // Between opening and lock another process may have removed it.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &status) == 0 && status.st_nlink > 0 &&
      status.st_uid == ::geteuid())
    return descriptor;
  ::close(descriptor);
  return -1;
}

/// Removes folders whose owner is gone.
void remove_stale(const fs::path& parent) {
  for (const std::string& name : names_in(parent.string())) {
    if (!name.starts_with(kPrefix)) continue;
    const fs::path folder = parent / name;
    const int descriptor = lock(folder);
    if (descriptor < 0) continue;
    std::error_code failed;
    fs::remove_all(folder, failed);
    ::close(descriptor);
  }
}

}  // namespace

Result<WorkFolder> WorkFolder::create() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error)
    return fail(ExitCode::kIo, "io/cannot-write", "folder for temporary files", error.message(),
                "TMPDIR with a writable folder");
  remove_stale(parent);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string path = (parent / (std::string(kPrefix) + "XXXXXX")).string();
    if (::mkdtemp(path.data()) == nullptr) break;
    // Not locked: another process took it for a stale one in between.
    if (const int descriptor = lock(path); descriptor >= 0) return WorkFolder(std::move(path), descriptor);
  }
  return fail(ExitCode::kIo, "io/cannot-write", parent.string(), std::strerror(errno), "a writable temporary folder");
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace collage
