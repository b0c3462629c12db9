#include "sandbox/import_model.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "sandbox/import_file.h"
#include "sandbox/import_job.h"
#include "worker/limits.h"
#include "worker/worker_process.h"

namespace collage {
namespace {

/// Of the memory that is free.
constexpr double kMemoryShare = 0.8;
/// Results are the model's weights, once more its bytes, and names.
constexpr std::int64_t kMostResultBytes = std::int64_t{8} << 30;

/// A file that lies in memory and goes with its last descriptor.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }

  Result<void> write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return unusable();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  /// From now on nobody can change it. Fails while somebody could still write to a mapping of it.
  [[nodiscard]] Result<void> seal() const {
    if (::fcntl(descriptor_, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) return {};
    return unusable();
  }

  [[nodiscard]] static std::unexpected<Error> unusable() {
    return fail(ExitCode::kIo, "sandbox/cannot-write", "memory for an imported model", std::strerror(errno),
                "memory that can be shared");
  }

 private:
  int descriptor_;
};

WorkerLimits limits_of(const ImportLimits& limits) {
  const auto free = static_cast<std::int64_t>(kMemoryShare * static_cast<double>(available_memory()));
  const auto seconds = static_cast<std::int64_t>(limits.import_seconds);
  return {.memory_bytes = std::min(static_cast<std::int64_t>(limits.import_memory), free),
          .file_bytes = kMostResultBytes,
          .descriptors = 256,
          // The clock on the wall ends it first, and says so.
          .cpu_seconds = seconds + 60};
}

Error error_of(const Death& death, const std::string& path, const ImportLimits& limits) {
  const std::string& detail = death.refusal.detail;
  if (death.refusal.reason == RefusalReason::kTimeout)
    return over_limit(limits, &ImportLimits::import_seconds, path, "a model that is still being read: " + detail)
        .error();
  if (death.refusal.reason == RefusalReason::kResources)
    return over_limit(limits, &ImportLimits::import_memory, path, "its reader ended: " + detail).error();
  return fail(ExitCode::kBadInput, "import/reader-died", path, "its reader ended: " + detail,
              "a model that ONNX's library reads; --trust reads it in this process")
      .error();
}

/// Answers what only this process knows.
class QuestionDesk {
 public:
  QuestionDesk(const ImportOptions& options, const MemoryFile& result) : options_(options), result_(result) {}

  Result<Json> operator()(const Json& question) const {
    COLLAGE_TRY(Result<Json> said, read_json("question", [&] { return answer(question); }));
    return said;
  }

 private:
  Result<Json> answer(const Json& question) const {
    if (const auto asked = question.find("operator"); asked != question.end())
      return Json(
          options_.knows_vendor_operator &&
          options_.knows_vendor_operator(asked->at("domain").get<std::string>(), asked->at("op").get<std::string>()));
    // The bytes are copied: whoever asks could change the file while they are looked at.
    const auto bytes = question.at("types").get<std::size_t>();
    if (bytes > static_cast<std::size_t>(kMostResultBytes) || !options_.vendor_types)
      return fail(ExitCode::kBug, "sandbox/bad-answer", "question", "one about a model that is none", "a model");
    std::string model(bytes, '\0');
    if (::pread(result_.descriptor(), model.data(), bytes, 0) != static_cast<ssize_t>(bytes))
      return fail(ExitCode::kBug, "sandbox/bad-answer", "question", "one about bytes that are not there", "a model");
    COLLAGE_TRY(const auto types, options_.vendor_types(model));
    Json said = Json::object();
    for (const auto& [name, type] : types) said[name] = to_string(type);
    return said;
  }

  const ImportOptions& options_;
  const MemoryFile& result_;
};

}  // namespace

Result<Imported> import_apart(const std::string& path, ImportOptions options, const ModelReader& reader,
                              const ArrayShapes& arrays) {
  options.limits = reader.limits;
  if (reader.worker.empty()) return import_model_for(path, options, arrays);
  const MemoryFile result("collage-imported");
  const MemoryFile bytes("collage-model");
  if (result.descriptor() < 0 || bytes.descriptor() < 0) return MemoryFile::unusable();
  ImportJob job{.path = path,
                .options = options,
                .arrays = arrays,
                .has_bytes = is_only_here(path),
                .knows_vendors = static_cast<bool>(options.knows_vendor_operator),
                .has_types = static_cast<bool>(options.vendor_types)};
  if (job.has_bytes) {
    COLLAGE_TRY(const ModelFile file, read_model_file(path));
    COLLAGE_TRY_VOID(bytes.write(file.bytes));
  }
  WorkerProcess process(reader.worker, limits_of(options.limits), {result.descriptor(), bytes.descriptor()});
  const std::chrono::seconds patience(options.limits.import_seconds);
  const auto outcome = process.call(
      to_json(job), [&](const auto&) { return patience; }, {}, QuestionDesk(options, result));
  process.stop();
  if (!outcome) return std::unexpected(error_of(outcome.error(), path, options.limits));
  if (!*outcome) return std::unexpected(outcome->error());
  COLLAGE_TRY_VOID(result.seal());
  return read_import(result.descriptor(), model_folders(path), path);
}

}  // namespace collage
