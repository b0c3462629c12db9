#include "onnx/files/beside_model.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/mapped_descriptor.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAllowed = "a relative path inside the model's folder";

/// Closed when it goes.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// How errors show a path of the model: its first line, not too long.
std::string shown(const std::string& path) {
  return path.substr(0, std::min({path.find('\n'), path.find('\0'), std::size_t{200}}));
}

/// Opening a pipe would wait for its writer.
constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/// -1 and errno: EXDEV for a path that leads out of the folder, ENOSYS where the kernel has no such call.
FileDescriptor open_beneath(const fs::path& folder, const fs::path& file, std::uint64_t more = 0) {
  const FileDescriptor root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return FileDescriptor(-1);
  const open_how how{.flags = kFlags, .mode = 0, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | more};
  return FileDescriptor(static_cast<int>(::syscall(SYS_openat2, root.number(), file.c_str(), &how, sizeof how)));
}

/// Where the file lies in this folder once links are followed; empty when it does not.
fs::path part_inside(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return {};
  const fs::path real = fs::canonical(file, error);
  if (error) return {};
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (end != root.end() || rest == real.end()) return {};
  fs::path part;
  for (auto step = rest; step != real.end(); ++step) part /= *step;
  return part;
}

/// A link with an absolute target, or into the real folder, may lead to a file inside. That file is opened by its real
/// place, with no link left to follow.
FileDescriptor open_where_links_lead(const ModelFolders& folders, const fs::path& file, bool has_call) {
  for (const std::string& folder : {folders.named, folders.real}) {
    const fs::path part = folder.empty() ? fs::path() : part_inside(folder, fs::path(folders.named) / file);
    if (part.empty()) continue;
    std::error_code error;
    const fs::path root = fs::canonical(folder, error);
    if (has_call) return open_beneath(root, part, RESOLVE_NO_SYMLINKS);
    return FileDescriptor(::open((root / part).c_str(), kFlags | O_NOFOLLOW));
  }
  errno = EXDEV;
  return FileDescriptor(-1);
}

FileDescriptor open_file(const ModelFolders& folders, const fs::path& file) {
  FileDescriptor opened = open_beneath(folders.named, file);
  if (opened.is_open() || (errno != EXDEV && errno != ENOSYS && errno != EPERM)) return opened;
  const bool has_call = errno == EXDEV;
  std::error_code ignored;
  if (!has_call && !fs::exists(fs::symlink_status(fs::path(folders.named) / file, ignored))) {
    errno = ENOENT;
    return FileDescriptor(-1);
  }
  return open_where_links_lead(folders, file, has_call);
}

Result<void> check_location(const std::string& location, const std::string& where) {
  const fs::path path(location);
  const bool is_plain = location.find('\0') == std::string::npos && !path.is_absolute() && !location.empty() &&
                        std::ranges::none_of(path, [](const fs::path& part) { return part == ".."; });
  if (is_plain) return {};
  return bad_external_data(where, "location '" + shown(location) + "'", kAllowed);
}

}  // namespace

std::unexpected<Error> bad_external_data(const std::string& where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "import/external-data", where, std::move(saw), std::move(allowed));
}

Result<Buffer> map_beside_model(const ModelFolders& folders, const std::string& location, const std::string& where) {
  if (folders.named.empty())
    return bad_external_data(where, "external data, but no folder to read it from", "data inside the model");
  COLLAGE_TRY_VOID(check_location(location, where));
  const std::string full = (fs::path(folders.named) / location).string();
  const FileDescriptor file = open_file(folders, location);
  if (!file.is_open() && (errno == ENOENT || errno == ENOTDIR))
    return fail(ExitCode::kIo, "import/not-found", where, "no file '" + shown(full) + "'",
                "the model's external data next to it");
  if (!file.is_open() && (errno == EXDEV || errno == ELOOP))
    return bad_external_data(where, "location '" + shown(location) + "', which leads out of the folder", kAllowed);
  if (!file.is_open()) return fail(ExitCode::kIo, "io/cannot-read", full, std::strerror(errno), "a readable file");
  struct stat status {};
  if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))
    return bad_external_data(where, "location '" + shown(location) + "'", "a regular file");
  // Another name of the file may lie outside the folder, where a model must not read, and nothing tells where it lies.
  // A folder unpacked from an archive can hold such links; who has made some to save room can copy the file.
  if (status.st_nlink > 1)
    return bad_external_data(where, "location '" + shown(location) + "', a file with several names",
                             "a file with one name; a copy of it");
  return map_descriptor(file.number(), full);
}

}  // namespace collage
