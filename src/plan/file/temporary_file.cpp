#include "plan/file/temporary_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/file.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(ExitCode::kIo, "io/cannot-write", path, std::strerror(error), "a writable file in an existing folder");
}

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

std::string temporary_prefix(const std::string& path) {
  return "." + fs::path(path).filename().string() + ".collage-temporary.";
}

/// Removes temporaries whose writer is gone: a living writer holds the file's lock.
void remove_abandoned(const std::string& path) {
  const std::string prefix = temporary_prefix(path);
  const fs::path folder = folder_of(path);
  for (const std::string& name : names_in(folder.string())) {
    if (!name.starts_with(prefix)) continue;
    const fs::path temporary = folder / name;
    const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(temporary.c_str());
    ::close(descriptor);
  }
}

}  // namespace

Result<TemporaryFile> TemporaryFile::make(const std::string& target) {
  // Renaming would put a file in the place of a device or a pipe.
  std::error_code ignored;
  const fs::file_status there = fs::status(target, ignored);
  if (fs::is_directory(there)) return cannot_write(target, EISDIR);
  if (fs::exists(there) && !fs::is_regular_file(there)) return cannot_write(target, EINVAL);
  remove_abandoned(target);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = fmt::format("{}{}.{}", temporary_prefix(target), ::getpid(), attempt);
    std::string path = (folder_of(target) / name).string();
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return cannot_write(target, errno);
    TemporaryFile made(std::move(path), descriptor);
    struct stat status {};
    // Between creation and lock another process may have taken the file for a stale one.
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &status) == 0 && status.st_nlink > 0)
      return made;
  }
  return cannot_write(target, EEXIST);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

Result<void> TemporaryFile::rename_to(const std::string& target, Durability durability) {
  const bool is_synced = durability == Durability::kSynced;
  if ((is_synced && ::fsync(descriptor_) != 0) || ::rename(path_.c_str(), target.c_str()) != 0)
    return cannot_write(target, errno);
  ::close(descriptor_);
  descriptor_ = -1;
  if (!is_synced) return {};
  const int folder = ::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = folder >= 0 && ::fsync(folder) == 0;
  const int error = errno;
  if (folder >= 0) ::close(folder);
  // Some file systems cannot sync folders; the file itself is safe then.
  if (!synced && error != EINVAL)
    return fail(ExitCode::kIo, "io/not-synced", target,
                std::string(std::strerror(error)) + " for its folder; the plan is whole, but a power cut may lose it",
                "a folder that can be synced");
  return {};
}

}  // namespace collage
