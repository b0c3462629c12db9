#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>

namespace collage {
namespace {

constexpr std::string_view kTemporary = ".partial-";

/// Unique in this process by the counter, among processes by the id.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + std::string(kTemporary) + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// What went wrong; "" when the file had as many bytes as asked for.
std::string read_all(int descriptor, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::strerror(errno);
    if (count == 0) return "a file that became shorter";
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return "";
}

bool sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool good = ::fsync(descriptor) == 0;
  ::close(descriptor);
  return good;
}

Result<void> write_and_rename(const std::string& path, std::span<const std::string_view> pieces, bool durable) {
  // Renaming would put a file in the place of a device or a pipe.
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return fail(ExitCode::kIo, "file/cannot-write", path, "something that is not a regular file", "a file's name");
  const std::string temporary = temporary_name(path);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) return fail(ExitCode::kIo, "file/cannot-write", path, std::strerror(errno), "a writable folder");
  bool good = true;
  for (const std::string_view piece : pieces) good = good && write_all(descriptor, piece);
  good = good && (!durable || ::fsync(descriptor) == 0);
  int error = errno;
  good = ::close(descriptor) == 0 && good;
  if (good && ::rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
    good = false;
  }
  if (!good) {
    ::unlink(temporary.c_str());
    return fail(ExitCode::kIo, "file/cannot-write", path, std::strerror(error), "room for the file");
  }
  if (durable && !sync_folder_of(path))
    return fail(ExitCode::kIo, "file/cannot-write", path, std::strerror(errno), "a folder that can be synced");
  return {};
}

}  // namespace

Result<Buffer> read_file(const std::string& path) {
  // Opening a pipe would wait for its writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::string problem = descriptor < 0 ? std::strerror(errno) : "";
  struct stat status {};
  if (problem.empty() && (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)))
    problem = "something that is not a regular file";
  Buffer buffer;
  if (problem.empty())
    buffer = Buffer::make(static_cast<std::size_t>(status.st_size),
                          [&](std::span<std::byte> bytes) { problem = read_all(descriptor, bytes); });
  if (descriptor >= 0) ::close(descriptor);
  if (problem.empty()) return buffer;
  return fail(ExitCode::kIo, "io/cannot-read", path, problem, "a readable file");
}

Result<void> write_file_durably(const std::string& path, std::span<const std::string_view> pieces) {
  return write_and_rename(path, pieces, true);
}

Result<void> write_file(const std::string& path, std::span<const std::string_view> pieces) {
  return write_and_rename(path, pieces, false);
}

Result<void> write_file(const std::string& path, std::string_view contents) { return write_file(path, {&contents, 1}); }

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return names;
  while (const dirent* const entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

void remove_stale_temporaries(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const std::string& name : names_in(folder)) {
    if (name.find(kTemporary) == std::string::npos) continue;
    const fs::path path = fs::path(folder) / name;
    const auto written = fs::last_write_time(path, ignored);
    if (!ignored && written < limit) fs::remove(path, ignored);
  }
}

}  // namespace collage
