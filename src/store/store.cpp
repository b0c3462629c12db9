#include "store/store.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

#include "base/file.h"
#include "base/work_folder.h"
#include "region/value_json.h"
#include "store/leases.h"
#include "store/store_file.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

/// Keys of what lies beside a cost in its record.
constexpr const char* kSamples = "samples_ns";
constexpr const char* kWarm = "warm_ns";

std::optional<Cost> parse_cost(const std::string& text) {
  const auto json = parse_json(text, "store");
  if (!json) return std::nullopt;
  const auto cost = read_json("store", [&] { return cost_from(*json); });
  return cost ? std::optional(*cost) : std::nullopt;
}

struct SpecParts {
  std::string kind;  ///< "sqlite", "memory" or another; empty for a bare path
  std::string path;
};

SpecParts parts_of(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string::npos || spec.find('/') < colon) return {.kind = "", .path = spec};
  return {.kind = spec.substr(0, colon), .path = spec.substr(colon + 1)};
}

/// SQLite itself takes an empty file, and one of a few bytes, for a database without tables.
/// Source: https://www.sqlite.org/fileformat.html#magic_header_string
bool is_database(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::array<char, kMagic.size()> head{};
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), head.size()) && std::string_view(head.data(), head.size()) == kMagic;
}

}  // namespace

struct Store::State {
  std::string path;                          ///< empty: memory only
  std::unique_ptr<SQLite::Database> file;    ///< null when there is none or it failed
  std::unique_ptr<SQLite::Database> memory;  ///< made when needed; wins over the file
  std::string folder;
  std::optional<WorkFolder> temporary;                     ///< what `folder` is when nothing is kept
  std::map<std::string, std::string> temporary_artifacts;  ///< hashes by key: the file names only what is kept
  Leases leases{""};
  std::vector<std::string> warnings;
  std::size_t damaged = 0;  ///< records found damaged and set aside by this object

  void use_temporary_folder() {
    auto made = WorkFolder::create();
    folder.clear();
    if (!made) return;
    temporary.emplace(std::move(*made));
    folder = temporary->path();
  }

  void warn(const std::string& what, const std::string& consequence) {
    warnings.assign(1, path + ": " + what + "; " + consequence);
  }

  /// From here on the file is only read, as far as it can be, and closed without another write.
  void give_up(const std::string& what) {
    if (file) leave_log(*file);
    if (memory) return;
    warn(what, "results of this run are kept in memory only");
    memory = open_store_memory();
  }

  /// What the work on the file gives; nothing when there is no file or it fails twice, the second time on the file
  /// opened anew.
  template <class Work>
  auto ask_file(Work work) -> std::optional<decltype(work(*file))> {
    if (!file) return std::nullopt;
    try {
      return work(*file);
    } catch (const std::exception& first) {
      const std::string what = first.what();
      try {
        if (!memory) {
          leave_log(*file);
          file.reset();
          file = open_store_file(path);
        }
        auto answer = work(*file);
        if (!memory) warn(what, "the file was opened again and nothing is missing");
        return answer;
      } catch (const std::exception&) {
        give_up(what);
        return std::nullopt;
      }
    }
  }

  std::optional<std::string> read(const StoreTable& table, const std::string& key) {
    const auto read_from = [&](SQLite::Database& database) { return read_record(database, table, key, damaged); };
    if (memory)
      if (auto text = read_from(*memory)) return text;
    return ask_file(read_from).value_or(std::nullopt);
  }

  void write(const StoreTable& table, const std::string& key, const std::string& text) {
    const auto write_to = [&](SQLite::Database& database) {
      write_record(database, table, key, text);
      return true;
    };
    if (memory || !ask_file(write_to)) write_to(*memory);
  }

  void write(const StoreTable& table, std::span<const std::pair<std::string, std::string>> records) {
    const auto write_to = [&](SQLite::Database& database) {
      write_records(database, table, records);
      return true;
    };
    if (memory || !ask_file(write_to)) write_to(*memory);
  }

  std::size_t count(const StoreTable& table) {
    const auto count_in = [&](SQLite::Database& database) { return count_records(database, table); };
    return (memory ? count_in(*memory) : 0) + ask_file(count_in).value_or(0);
  }

  std::vector<std::pair<std::string, std::string>> texts_like(const StoreTable& table, const std::string& part) {
    const auto find_in = [&](SQLite::Database& database) { return read_records(database, table, part, damaged); };
    auto found = ask_file(find_in).value_or(std::vector<std::pair<std::string, std::string>>{});
    if (memory)
      for (auto& record : find_in(*memory)) found.push_back(std::move(record));
    return found;
  }

  /// Removes what `from` removes of one database, in memory and in the file.
  template <class From>
  void remove(From from) {
    (void)ask_file([&](SQLite::Database& database) {
      from(database);
      return true;
    });
    if (memory) from(*memory);
  }

  /// Work on the leases, which only a file has; nothing when there is none any more.
  template <class Work>
  auto with_leases(Work work) {
    if (memory) return decltype(ask_file(work)){};
    return ask_file(work);
  }

  /// The database and its folder of artifacts, or a warning and memory.
  void open_path(std::string file_path) {
    path = std::move(file_path);
    folder = path + ".files";
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    try {
      file = open_store_file(path);
    } catch (const std::exception& exception) {
      give_up(exception.what());
    }
    if (file) fs::create_directories(folder, error);
    const bool can_write = file && !error && ::access(folder.c_str(), W_OK) == 0;
    if (!can_write && warnings.empty())
      warn("its folder of artifacts cannot be written", "those of this run are kept in a temporary one");
    if (!can_write) use_temporary_folder();
    if (file) leases = Leases(path + "-tuners");
    if (can_write) remove_stale_temporaries(folder);
  }
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& spec) {
  auto state = std::make_unique<State>();
  const auto [kind, path] = parts_of(spec);
  if (kind == "memory") {
    state->memory = open_store_memory();
    state->use_temporary_folder();
  } else if (kind.empty() || kind == "sqlite") {
    state->open_path(path);
  } else {
    return fail(ExitCode::kUsage, "store/unknown-kind", spec, kind, "sqlite:PATH, memory: or a path");
  }
  if (state->folder.empty())
    return fail(ExitCode::kIo, "store/no-folder", spec, "no folder for artifacts could be made",
                "a writable folder for temporary files");
  return Store(std::move(state));
}

Result<Store> Store::open_existing(const std::string& spec) {
  const auto [kind, path] = parts_of(spec);
  const bool has_file = kind.empty() || kind == "sqlite";
  std::error_code error;
  if (has_file && !fs::exists(path, error))
    return fail(ExitCode::kIo, "store/missing", path, "no such store", "a cost store: collage tune makes one");
  if (has_file && !is_database(path))
    return fail(ExitCode::kIo, "store/unreadable", path, "no SQLite database", "a cost store: collage tune makes one");
  COLLAGE_TRY(Store store, open(spec));
  if (!store.warnings().empty())
    return fail(ExitCode::kIo, "store/unreadable", path, store.warnings().front(),
                "a cost store that can be read and written");
  return store;
}

std::optional<Cost> Store::cost(const std::string& key) {
  const auto text = state_->read(kCostTable, key);
  return text ? parse_cost(*text) : std::nullopt;
}

std::optional<Samples> Store::samples(const std::string& key) {
  const auto text = state_->read(kCostTable, key);
  if (!text) return std::nullopt;
  const auto json = parse_json(*text, "store");
  if (!json || !json->contains(kSamples)) return std::nullopt;
  const auto samples = read_json("store", [&] {
    return Samples{.ns = json->at(kSamples).get<std::vector<std::int64_t>>(), .warm_ns = json->at(kWarm)};
  });
  return samples ? std::optional(*samples) : std::nullopt;
}

void Store::put_cost(const std::string& key, const Cost& cost, const Samples& samples) {
  Json json = to_json(cost);
  if (!samples.ns.empty()) {
    json[kSamples] = samples.ns;
    json[kWarm] = samples.warm_ns;
  }
  state_->write(kCostTable, key, to_line(json));
  state_->leases.forget(key);
}

std::optional<std::string> Store::artifact(const std::string& key) {
  if (!state_->temporary) return state_->read(kArtifactTable, key);
  const auto found = state_->temporary_artifacts.find(key);
  return found == state_->temporary_artifacts.end() ? std::nullopt : std::optional(found->second);
}

void Store::put_artifact(const std::string& key, const std::string& hash) {
  if (state_->temporary)
    state_->temporary_artifacts[key] = hash;
  else
    state_->write(kArtifactTable, key, hash);
}

std::optional<std::string> Store::verdict(const std::string& key) { return state_->read(kVerdictTable, key); }
void Store::put_verdict(const std::string& key, const std::string& json) { state_->write(kVerdictTable, key, json); }

std::optional<std::string> Store::region(const std::string& key) { return state_->read(kRegionTable, key); }
void Store::put_regions(std::span<const std::pair<std::string, std::string>> records) {
  state_->write(kRegionTable, records);
}
std::vector<std::pair<std::string, std::string>> Store::regions() { return state_->texts_like(kRegionTable, ""); }

const std::string& Store::artifact_folder() const { return state_->folder; }
const std::vector<std::string>& Store::warnings() const { return state_->warnings; }

std::size_t Store::set_aside() const { return state_->damaged; }

Store::Counts Store::counts() {
  return {.costs = state_->count(kCostTable),
          .artifacts = state_->count(kArtifactTable),
          .verdicts = state_->count(kVerdictTable)};
}

std::vector<std::pair<std::string, Cost>> Store::costs_like(const std::string& part) {
  std::vector<std::pair<std::string, Cost>> found;
  for (auto& [key, text] : state_->texts_like(kCostTable, part))
    if (auto cost = parse_cost(text)) found.emplace_back(std::move(key), *cost);
  return found;
}

std::vector<std::pair<std::string, std::string>> Store::artifacts_like(const std::string& part) {
  return state_->texts_like(kArtifactTable, part);
}

std::vector<std::pair<std::string, std::string>> Store::verdicts_like(const std::string& part) {
  return state_->texts_like(kVerdictTable, part);
}

void Store::remove(const std::string& part) {
  state_->remove([&](SQLite::Database& database) { remove_records(database, part); });
}
void Store::remove_cost(const std::string& key) {
  state_->remove([&](SQLite::Database& database) { remove_record(database, kCostTable, key); });
}

std::size_t Store::damaged_count() {
  for (const StoreTable& table : kStoreTables) (void)state_->texts_like(table, "");
  return state_->ask_file(count_set_aside).value_or(state_->damaged);
}

std::vector<Lease> Store::take_leases(std::span<const std::string> keys, std::chrono::nanoseconds time) {
  const auto is_known = [](SQLite::Database& database, const std::string& key) {
    const auto text = sound_record(database, kCostTable, key);
    return text && parse_cost(*text);
  };
  auto taken = state_->with_leases([&](SQLite::Database& database) {
    return state_->leases.take(database, keys, time, [&](const std::string& key) { return is_known(database, key); });
  });
  if (taken) return *std::move(taken);
  std::vector<Lease> answers;
  for (const std::string& key : keys) answers.push_back(cost(key) ? Lease::kKnown : Lease::kOurs);
  return answers;
}

void Store::extend_leases(std::chrono::nanoseconds time) {
  (void)state_->with_leases([&](SQLite::Database& database) {
    state_->leases.extend(database, time);
    return true;
  });
}

void Store::release_leases() {
  (void)state_->with_leases([&](SQLite::Database& database) {
    state_->leases.release(database);
    return true;
  });
}

std::size_t Store::lease_count() {
  return state_->with_leases([&](SQLite::Database& database) { return state_->leases.count(database); }).value_or(0);
}

}  // namespace collage
