#include "backends/common/object/object_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace collage {
namespace {

/// The dynamic loader takes a path it has seen for the object it loaded then, and descriptors are used again. So the
/// path spells the file's number, which no other file has while this one is mapped: "./" for a 0, ".//" for a 1.
std::string unique_path(int descriptor) {
  struct stat status {};
  ::fstat(descriptor, &status);
  std::string path = "/proc/self/fd/";
  for (auto number = static_cast<std::uint64_t>(status.st_ino); number != 0; number >>= 1)
    path += (number & 1) != 0 ? ".//" : "./";
  return path + std::to_string(descriptor);
}

/// Bytes as a file that is gone with its last reader.
class ObjectFile {
 public:
  ~ObjectFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;
  explicit ObjectFile(std::string_view bytes) {
    descriptor_ = ::memfd_create("collage-kernels", MFD_CLOEXEC);
    if (descriptor_ < 0 || ::access("/proc/self/fd", X_OK) != 0) make_file();
    if (descriptor_ < 0 || !write_all(bytes)) {
      problem_ = std::strerror(errno);
      return;
    }
    if (path_.empty()) shown_ = unique_path(descriptor_);
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const char* path() const { return path_.empty() ? shown_.c_str() : path_.c_str(); }

 private:
  void make_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
    std::error_code ignored;
    std::filesystem::path folder = std::filesystem::temp_directory_path(ignored);
    path_ = (ignored ? std::filesystem::path("/tmp") : folder) / "collage-kernels-XXXXXX";
    descriptor_ = ::mkostemp(path_.data(), O_CLOEXEC);
    if (descriptor_ < 0) path_.clear();
  }
  bool write_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  int descriptor_ = -1;
  std::string path_;
  std::string shown_;
  std::string problem_;
};

}  // namespace

Result<void*> open_object(std::string_view bytes, const char* backend) {
  const ObjectFile file(bytes);
  if (!file.problem().empty())
    return fail(ExitCode::kIo, "io/cannot-write", std::string(backend) + " kernels", file.problem());
  void* handle = ::dlopen(file.path(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const char* words = ::dlerror();
  return fail(ExitCode::kBadInput, "backend/bad-artifact", backend,
              words != nullptr ? words : "bytes the dynamic loader refuses", "a loadable shared object");
}

}  // namespace collage
