#include "measure/repro_keeper.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "numbers/record.h"
#include "store/keys.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHalfWritten = ".half-";
/// A half-written folder of this age has no writer any more.
constexpr auto kStaleAfter = std::chrono::hours(1);

NodeSet set_of(const Graph& graph, const std::vector<std::uint32_t>& nodes) {
  NodeSet set(graph.nodes.size());
  for (const std::uint32_t node : nodes) set.insert(node);
  return set;
}

Region region_of(const FailedCandidate& failed) {
  const Graph& graph = *failed.graph;
  return make_region(graph, uses_of(graph), set_of(graph, failed.nodes), set_of(graph, failed.repeated));
}

/// Letters, digits and '-' of an instance's name: "test:fault=x" becomes "test-fault-x".
std::string as_file_name(const std::string& text) {
  std::string name = text.substr(0, 40);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  return name;
}

std::string name_of_bundle(const FailedCandidate& failed) {
  const ReproBundle& bundle = failed.bundle;
  const std::string what =
      bundle.conversion ? text_of(*bundle.conversion) : structure_key(*failed.graph, region_of(failed));
  const std::string hash =
      hash_hex(fmt::format("{}\n{}\n{}\n{}", bundle.backend, bundle.build, name_of(bundle.refusal.reason), what));
  return fmt::format("{}-{}-{}", as_file_name(bundle.backend), name_of(bundle.refusal.reason), hash.substr(0, 12));
}

Result<void> fill(FailedCandidate& failed) {
  if (failed.bundle.conversion) return {};
  COLLAGE_TRY(const Record record, Record::open(failed.record_file));
  failed.bundle.graph = extract(*failed.graph, region_of(failed));
  const Graph& region = failed.bundle.graph;
  for (const ValueId id : region.inputs) {
    COLLAGE_TRY(Tensor tensor, record.tensor(region.value(id).name));
    failed.bundle.inputs.push_back(std::move(tensor));
  }
  for (const ValueId id : region.outputs) {
    COLLAGE_TRY(Tensor tensor, record.tensor(region.value(id).name));
    failed.bundle.expected.push_back(std::move(tensor));
  }
  return {};
}

}  // namespace

bool is_failure(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kCompile:
    case RefusalReason::kWrongResult:
    case RefusalReason::kCrashed:
    case RefusalReason::kTimeout:
    case RefusalReason::kResources:
      return true;
    default:
      return false;
  }
}

std::string repro_folder_of(const std::string& store_path) { return store_path + ".repros"; }

std::size_t prune_repros(const std::string& folder, const ReproLimits& limits) {
  std::vector<std::pair<fs::file_time_type, fs::path>> bundles;
  std::size_t removed = 0;
  const auto now = fs::file_time_type::clock::now();
  const auto remove = [&](const fs::path& path) {
    std::error_code failed;
    fs::remove_all(path, failed);
    if (!failed) ++removed;
  };
  for (const std::string& name : names_in(folder)) {
    std::error_code gone;
    const fs::path path = fs::path(folder) / name;
    const auto time = fs::last_write_time(path, gone);
    if (gone) continue;
    const bool is_half = name.starts_with(kHalfWritten);
    // Nothing but what a keeper wrote is touched, whatever folder this is.
    if (!is_half && !fs::exists(path / "repro.json", gone)) continue;
    if (now - time > (is_half ? kStaleAfter : limits.most_age))
      remove(path);
    else if (!is_half)
      bundles.emplace_back(time, path);
  }
  std::ranges::sort(bundles);
  for (std::size_t i = 0; i + limits.most_kept < bundles.size(); ++i) remove(bundles[i].second);
  return removed;
}

void ReproKeeper::keep(FailedCandidate failed) {
  if (!is_failure(failed.bundle.refusal.reason)) return;
  const std::string name = name_of_bundle(failed);
  if (!seen_.insert(name).second) return;
  KeptRepro kept{.backend = failed.bundle.backend,
                 .refusal = failed.bundle.refusal,
                 .stage = failed.bundle.stage,
                 .folder = folder_ + "/" + name,
                 .note = {}};
  std::error_code error;
  if (folder_.empty()) {
    kept.note = "there is no place for reproduction bundles";
  } else if (fs::exists(kept.folder + "/repro.json", error)) {
    fs::last_write_time(kept.folder, fs::file_time_type::clock::now(), error);  // it was of use again
  } else if (written_ >= limits_.most_per_tune) {
    kept.note = fmt::format("{} bundles were written already", written_);
  } else if (auto written = write(name, failed); !written) {
    kept.note = to_string(written.error());
  }
  if (!kept.note.empty()) kept.folder.clear();
  kept_.push_back(std::move(kept));
}

Result<void> ReproKeeper::write(const std::string& name, FailedCandidate& failed) {
  COLLAGE_TRY_VOID(fill(failed));
  if (const std::size_t bytes = bundle_bytes(failed.bundle); bytes > limits_.most_bytes)
    return fail(ExitCode::kLimit, "repro/too-large", name, fmt::format("{} bytes", bytes),
                fmt::format("{} bytes", limits_.most_bytes));
  std::error_code error;
  fs::create_directories(folder_, error);
  if (written_ == 0) {
    ReproLimits before = limits_;
    before.most_kept -= std::min(before.most_kept, limits_.most_per_tune);
    prune_repros(folder_, before);
  }
  std::string half = folder_ + "/" + std::string(kHalfWritten) + "XXXXXX";
  if (::mkdtemp(half.data()) == nullptr)
    return fail(ExitCode::kIo, "io/cannot-write", folder_, std::strerror(errno), "a folder that can be written");
  const std::string path = folder_ + "/" + name;
  const auto written = write_bundle(half, path, failed.bundle);
  if (written) fs::rename(half, path, error);
  std::error_code ignored;
  if (!written || error) fs::remove_all(half, ignored);
  if (!written) return written;
  // Where another process was faster, its bundle stands for ours.
  if (error && !fs::exists(path + "/repro.json", ignored))
    return fail(ExitCode::kIo, "io/cannot-write", path, error.message(), "a folder that can be written");
  ++written_;
  return {};
}

}  // namespace collage
