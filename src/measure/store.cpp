#include "measure/store.h"

#include <unistd.h>

#include <filesystem>

#include "measure/file.h"
#include "measure/json.h"
#include "measure/store_file.h"
#include "measure/work_folder.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

std::optional<Cost> parse_cost(const std::string& text) {
  const auto json = parse_json(text, "store");
  if (!json) return std::nullopt;
  const auto cost = read_json("store", [&] { return cost_from(*json); });
  return cost ? std::optional(*cost) : std::nullopt;
}

}  // namespace

struct Store::State {
  std::string path;                          ///< empty: memory only
  std::unique_ptr<SQLite::Database> file;    ///< null when there is none or it failed
  std::unique_ptr<SQLite::Database> memory;  ///< made when needed; wins over the file
  std::string folder;
  std::optional<WorkFolder> temporary;  ///< what `folder` is when nothing is kept
  std::vector<std::string> warnings;
  std::size_t damaged = 0;  ///< records found damaged and set aside by this object

  void use_temporary_folder() {
    auto made = WorkFolder::create();
    folder.clear();
    if (!made) return;
    temporary.emplace(std::move(*made));
    folder = temporary->path();
  }

  void warn(const std::string& what) {
    if (warnings.empty()) warnings.push_back(path + ": " + what + "; results of this run are kept in memory only");
  }

  std::optional<std::string> read(const StoreTable& table, const std::string& key) {
    for (SQLite::Database* database : {memory.get(), file.get()}) {
      if (database == nullptr) continue;
      try {
        if (auto text = read_record(*database, table, key, damaged)) return text;
      } catch (const std::exception& exception) {
        warn(exception.what());
      }
    }
    return std::nullopt;
  }

  void write(const StoreTable& table, const std::string& key, const std::string& text) {
    if (file && !memory) {
      try {
        write_record(*file, table, key, text);
        return;
      } catch (const std::exception& exception) {
        warn(exception.what());
      }
    }
    if (!memory) memory = open_store_memory();
    write_record(*memory, table, key, text);
  }

  /// Does the work in memory and in the file, as far as they are there.
  template <class Work>
  void in_each(Work work) {
    for (SQLite::Database* database : {memory.get(), file.get()}) {
      if (database == nullptr) continue;
      try {
        work(*database);
      } catch (const std::exception& exception) {
        warn(exception.what());
      }
    }
  }

  std::size_t count(const StoreTable& table) {
    std::size_t total = 0;
    in_each([&](SQLite::Database& database) { total += count_records(database, table); });
    return total;
  }

  std::vector<std::pair<std::string, std::string>> texts_like(const StoreTable& table, const std::string& part) {
    std::vector<std::pair<std::string, std::string>> found;
    in_each([&](SQLite::Database& database) {
      for (auto& record : read_records(database, table, part, damaged)) found.push_back(std::move(record));
    });
    return found;
  }

  /// The database and its folder of artifacts, or a warning and memory.
  void open_path(std::string file_path) {
    path = std::move(file_path);
    folder = path + ".files";
    std::error_code error;
    fs::create_directories(folder, error);
    try {
      file = open_store_file(path);
    } catch (const std::exception& exception) {
      warn(exception.what());
    }
    const bool can_write = !error && ::access(folder.c_str(), W_OK) == 0;
    if (!can_write) warn("its folder of artifacts cannot be written");
    if (!file || !can_write) use_temporary_folder();
    if (!file) memory = open_store_memory();
    if (file && can_write) remove_stale_temporaries(folder);
  }
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& spec) {
  auto state = std::make_unique<State>();
  const std::size_t colon = spec.find(':');
  const std::string kind = colon == std::string::npos || spec.find('/') < colon ? "" : spec.substr(0, colon);
  if (kind == "memory") {
    state->memory = open_store_memory();
    state->use_temporary_folder();
  } else if (kind.empty() || kind == "sqlite") {
    state->open_path(kind.empty() ? spec : spec.substr(colon + 1));
  } else {
    return fail(ExitCode::kUsage, "store/unknown-kind", spec, kind, "sqlite:PATH, memory: or a path");
  }
  if (state->folder.empty())
    return fail(ExitCode::kIo, "store/no-folder", spec, "no folder for artifacts could be made",
                "a writable folder for temporary files");
  return Store(std::move(state));
}

std::optional<Cost> Store::cost(const std::string& key) {
  const auto text = state_->read(kCostTable, key);
  return text ? parse_cost(*text) : std::nullopt;
}
void Store::put_cost(const std::string& key, const Cost& cost) {
  state_->write(kCostTable, key, to_line(to_json(cost)));
}

std::optional<std::string> Store::artifact(const std::string& key) { return state_->read(kArtifactTable, key); }
void Store::put_artifact(const std::string& key, const std::string& hash) { state_->write(kArtifactTable, key, hash); }

std::optional<std::string> Store::verdict(const std::string& key) { return state_->read(kVerdictTable, key); }
void Store::put_verdict(const std::string& key, const std::string& json) { state_->write(kVerdictTable, key, json); }

const std::string& Store::artifact_folder() const { return state_->folder; }
bool Store::is_durable() const { return state_->file != nullptr && state_->memory == nullptr; }
const std::vector<std::string>& Store::warnings() const { return state_->warnings; }

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
  for (const StoreTable& table : kStoreTables) {
    std::vector<std::string> keys;
    for (auto& [key, text] : state_->texts_like(table, part)) keys.push_back(std::move(key));
    if (!keys.empty()) state_->in_each([&](SQLite::Database& database) { remove_records(database, table, keys); });
  }
}

std::size_t Store::damaged_count() {
  for (const StoreTable& table : kStoreTables) (void)state_->texts_like(table, "");
  try {
    return state_->file ? count_set_aside(*state_->file) : state_->damaged;
  } catch (const std::exception& exception) {
    state_->warn(exception.what());
    return state_->damaged;
  }
}

}  // namespace collage
