#include "plan/plan_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "plan/memory.h"
#include "plan/plan_json.h"
#include "plan/zip.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPage = 4096;
constexpr std::string_view kArtifactFolder = "artifacts/";
constexpr std::array<std::byte, kBufferAlignment> kPadding = {};

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
void remove_stale_temporaries(const std::string& path) {
  const std::string prefix = temporary_prefix(path);
  std::error_code ignored;
  for (fs::directory_iterator entry(folder_of(path), ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    if (!entry->path().filename().string().starts_with(prefix)) continue;
    const int descriptor = ::open(entry->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
    ::close(descriptor);
  }
}

/// A new locked file beside its target; removed unless it was renamed to the target.
class Temporary {
 public:
  [[nodiscard]] static Result<Temporary> make(const std::string& target) {
    // Renaming would put a file in the place of a device or a pipe.
    std::error_code ignored;
    const fs::file_status there = fs::status(target, ignored);
    if (fs::is_directory(there)) return cannot_write(target, EISDIR);
    if (fs::exists(there) && !fs::is_regular_file(there)) return cannot_write(target, EINVAL);
    remove_stale_temporaries(target);
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::string name = fmt::format("{}{}.{}", temporary_prefix(target), ::getpid(), attempt);
      std::string path = (folder_of(target) / name).string();
      const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor < 0 && errno == EEXIST) continue;
      if (descriptor < 0) return cannot_write(target, errno);
      Temporary made(std::move(path), descriptor);
      struct stat status {};
      // Between creation and lock another process may have taken the file for a stale one.
      if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &status) == 0 && status.st_nlink > 0)
        return made;
    }
    return cannot_write(target, EEXIST);
  }
  Temporary(Temporary&& other) noexcept : path_(std::move(other.path_)), descriptor_(other.descriptor_) {
    other.descriptor_ = -1;
  }
  Temporary& operator=(Temporary&&) = delete;
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (descriptor_ < 0) return;
    ::unlink(path_.c_str());
    ::close(descriptor_);
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }

  [[nodiscard]] Result<void> rename_to(const std::string& target) {
    if (::fsync(descriptor_) != 0 || ::rename(path_.c_str(), target.c_str()) != 0) return cannot_write(target, errno);
    ::close(descriptor_);
    descriptor_ = -1;
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

 private:
  Temporary(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

/// weights.bin: constants at their offsets, zeros between.
ZipSource weights_source(const RealisedPlan& plan) {
  ZipSource source{.name = "weights.bin", .parts = {}, .alignment = kPage};
  std::map<std::size_t, PlanIndex> by_offset;
  for (const auto& [index, tensor] : plan.constants)
    if (!tensor.data.bytes().empty()) by_offset.emplace(plan.plan.values[index].offset, index);
  std::size_t end = 0;
  const auto pad_to = [&](std::size_t offset) {
    COLLAGE_CHECK(offset >= end, "overlapping constants");
    while (end < offset) {
      const std::size_t bytes = std::min(offset - end, kPadding.size());
      source.parts.emplace_back(kPadding.data(), bytes);
      end += bytes;
    }
  };
  for (const auto& [offset, index] : by_offset) {
    pad_to(offset);
    source.parts.push_back(plan.constants.at(index).data.bytes());
    end += source.parts.back().size();
  }
  pad_to(plan.plan.weights_bytes);
  return source;
}

std::unexpected<Error> damaged(const std::string& path, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "plan/damaged", path, std::move(saw), std::move(allowed));
}

struct Members {
  std::map<std::string, ZipMember> by_name;
  [[nodiscard]] const ZipMember* find(const std::string& name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : &found->second;
  }
};

Result<Members> open_members(const std::string& path) {
  COLLAGE_TRY(const Buffer file, Buffer::map_file(path));
  COLLAGE_TRY(std::vector<ZipMember> list, read_zip(file, path));
  Members members;
  for (ZipMember& member : list) members.by_name.emplace(member.name, member);
  return members;
}

Result<void> attach_constants(RealisedPlan& out, const ZipMember* weights, const std::string& path) {
  if (weights == nullptr || weights->data.size() != out.plan.weights_bytes)
    return damaged(path, weights == nullptr ? "no weights.bin" : "weights.bin of another size",
                   fmt::format("{} bytes", out.plan.weights_bytes));
  for (std::size_t i = 0; i < out.plan.values.size(); ++i) {
    const PlanValue& value = out.plan.values[i];
    if (value.storage != Storage::kConstant) continue;
    out.constants.emplace(static_cast<PlanIndex>(i), Tensor{.type = value.type.element,
                                                            .extents = value.type.extents(),
                                                            .data = weights->data.slice(value.offset, value.bytes),
                                                            .strings = {}});
  }
  return {};
}

}  // namespace

Result<void> save_plan(const RealisedPlan& plan, const std::string& path) {
  const std::string json = to_json(plan.plan);
  std::vector<ZipSource> members;
  members.push_back({.name = "plan.json", .parts = {std::as_bytes(std::span(json))}, .alignment = kBufferAlignment});
  members.push_back(weights_source(plan));
  for (const auto& [hash, bytes] : plan.artifacts)
    members.push_back({.name = std::string(kArtifactFolder) + hash, .parts = {bytes.bytes()}, .alignment = kPage});
  if (plan.onnx.size() > 0)
    members.push_back({.name = "plan.onnx", .parts = {plan.onnx.bytes()}, .alignment = kBufferAlignment});
  COLLAGE_TRY(Temporary temporary, Temporary::make(path));
  COLLAGE_TRY_VOID(write_zip(temporary.descriptor(), members, path));
  return temporary.rename_to(path);
}

Result<void> check_can_save(const std::string& path) {
  COLLAGE_TRY_VOID(Temporary::make(path));
  return {};
}

bool is_plan_file(const std::string& path) {
  if (path.ends_with(".collage")) return true;
  // Opening a pipe would wait for its writer.
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::array<char, 4> start{};
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), start.size()) && std::string_view(start.data(), start.size()) == "PK\3\4";
}

Result<RealisedPlan> load_plan(const std::string& path) {
  COLLAGE_TRY(const Members members, open_members(path));
  const ZipMember* json = members.find("plan.json");
  if (json == nullptr) return damaged(path, "no plan.json", "a plan file");
  if (!has_right_crc(*json)) return damaged(path, "plan.json with a wrong checksum", "an unchanged file");
  RealisedPlan out;
  COLLAGE_TRY(out.plan, parse_plan(json->data.text(), path));
  COLLAGE_TRY_VOID(attach_constants(out, members.find("weights.bin"), path));
  for (const PlanArtifact& artifact : out.plan.artifacts) {
    const ZipMember* member = members.find(std::string(kArtifactFolder) + artifact.hash);
    if (member == nullptr) return damaged(path, "no artifact " + artifact.hash, "every artifact the plan lists");
    out.artifacts.emplace(artifact.hash, member->data);
  }
  if (const ZipMember* onnx = members.find("plan.onnx")) out.onnx = onnx->data;
  return out;
}

Result<void> check_contents(const std::string& path) {
  COLLAGE_TRY(const Members members, open_members(path));
  for (const auto& [name, member] : members.by_name)
    if (!has_right_crc(member)) return damaged(path, name + " with a wrong checksum", "an unchanged file");
  COLLAGE_TRY(const RealisedPlan plan, load_plan(path));
  for (const PlanArtifact& artifact : plan.plan.artifacts)
    if (artifact_hash(plan.artifacts.at(artifact.hash).text(), artifact.compatibility) != artifact.hash)
      return damaged(path, "artifact " + artifact.hash + " with other contents", "contents of that hash");
  return {};
}

}  // namespace collage
