#include "onnx/files/model_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>

namespace collage {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::numeric_limits<std::int32_t>::max();

std::unexpected<Error> too_large(const std::string& path, const std::string& bytes) {
  return fail(ExitCode::kLimit, "import/too-large", path, bytes,
              "at most 2147483647 bytes; keep larger weights in external data");
}

/// What pipes of this process gave: as unique as its standard input.
struct Pipes {
  std::mutex mutex;
  std::map<std::string, std::string> bytes;  ///< by path
};
Pipes& pipes() {
  static Pipes all;
  return all;
}

std::string real_path(const std::string& path) { return path == "-" ? "/dev/stdin" : path; }

bool is_stream(fs::file_type type) {
  return type == fs::file_type::fifo || type == fs::file_type::socket || type == fs::file_type::character;
}

/// Names of something open in this process, which mean something else in the next one and lie in no folder of the
/// user's.
bool is_descriptor(const std::string& path) {
  return path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

std::string folder_of(const std::string& path) {
  if (is_descriptor(path)) return ".";
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<std::string> read_to_end(int descriptor, const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string bytes;
  std::size_t size = 0;
  for (;;) {
    if (bytes.size() - size < kPiece) bytes.resize(std::max(2 * size, 2 * kPiece));
    const ssize_t got = ::read(descriptor, bytes.data() + size, kPiece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ExitCode::kIo, "import/cannot-read", path, std::strerror(errno), "a readable pipe");
    size += static_cast<std::size_t>(got);
    if (size > kMostBytes) return too_large(path, "more than 2147483647 bytes");
    if (got == 0) break;
  }
  bytes.resize(size);
  return bytes;
}

Result<std::string> read_pipe(const std::string& path) {
  Pipes& all = pipes();
  const std::scoped_lock lock(all.mutex);
  if (const auto found = all.bytes.find(real_path(path)); found != all.bytes.end()) return found->second;
  const int descriptor = ::open(real_path(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ExitCode::kIo, "import/cannot-read", path, std::strerror(errno), "a readable pipe");
  auto bytes = read_to_end(descriptor, path);
  ::close(descriptor);
  if (bytes) all.bytes.emplace(real_path(path), *bytes);
  return bytes;
}

Result<std::string> read_regular(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(real_path(path), error);
  if (error) return fail(ExitCode::kIo, "import/cannot-read", path, error.message());
  if (size > kMostBytes) return too_large(path, std::to_string(size) + " bytes");
  std::string bytes(size, '\0');
  std::ifstream stream(real_path(path), std::ios::binary);
  if (!stream || !stream.read(bytes.data(), static_cast<std::streamsize>(size)))
    return fail(ExitCode::kIo, "import/cannot-read", path, std::strerror(errno));
  return bytes;
}

/// The file, or the error of read_regular() where it cannot be mapped or is too large.
Result<void> take_regular(ModelFile& file, ModelBytes how) {
  if (how == ModelBytes::kMapped)
    if (auto mapped = Buffer::map_file(file.path); mapped && mapped->size() <= kMostBytes) {
      file.mapped = *std::move(mapped);
      return {};
    }
  COLLAGE_TRY(file.bytes, read_regular(file.path));
  return {};
}

}  // namespace

Result<ModelFile> read_model_file(const std::string& path, ModelBytes how) {
  std::error_code error;
  const fs::file_type type = fs::status(real_path(path), error).type();
  if (type == fs::file_type::not_found)
    return fail(ExitCode::kIo, "import/not-found", path, "no such file", "the path of an ONNX model");
  if (error) return fail(ExitCode::kIo, "import/cannot-read", path, error.message());
  if (type != fs::file_type::regular && !is_stream(type))
    return fail(ExitCode::kBadInput, "import/not-a-file", path, "neither a file nor a pipe",
                "the path of an ONNX model");
  ModelFile file{.path = path, .bytes = {}, .folders = model_folders(path)};
  if (is_stream(type) || is_descriptor(path)) {
    COLLAGE_TRY(file.bytes, read_pipe(path));
  } else {
    COLLAGE_TRY_VOID(take_regular(file, how));
  }
  if (file.contents().empty()) return fail(ExitCode::kBadInput, "import/empty", path, "0 bytes", "an ONNX model");
  return file;
}

ModelFolders model_folders(const std::string& path) {
  ModelFolders folders{.named = folder_of(path)};
  std::error_code error;
  if (fs::is_symlink(path, error)) folders.real = fs::weakly_canonical(path, error).parent_path().string();
  return folders;
}

bool is_only_here(const std::string& path) {
  std::error_code error;
  return is_descriptor(path) || is_stream(fs::status(path, error).type());
}

bool can_read_again(const std::string& path) {
  if (!is_only_here(path)) return true;
  Pipes& all = pipes();
  const std::scoped_lock lock(all.mutex);
  return all.bytes.contains(real_path(path));
}

}  // namespace collage
