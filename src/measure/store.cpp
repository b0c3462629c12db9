#include "measure/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "measure/file.h"
#include "measure/json.h"
#include "measure/work_folder.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

constexpr int kSchemaVersion = 1;
constexpr int kBusyMilliseconds = 20'000;
constexpr int kRetryMilliseconds = 5;
constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS costs(key TEXT PRIMARY KEY, cost TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS artifacts(key TEXT PRIMARY KEY, hash TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS verdicts(key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;";

/// A table with a text key and one text column.
struct Table {
  const char* name;
  const char* column;
};
constexpr Table kCosts = {"costs", "cost"};
constexpr Table kArtifacts = {"artifacts", "hash"};
constexpr Table kVerdicts = {"verdicts", "json"};

/// Sets the journal mode of a file that others may open at this moment: changing it needs the file alone, and SQLite
/// does not wait for that as it waits for other locks.
void use_write_ahead_log(SQLite::Database& database) {
  for (int waited = 0;; waited += kRetryMilliseconds) {
    const int code = database.tryExec("PRAGMA journal_mode=WAL");
    if (code == SQLITE_OK) return;
    if ((code & 0xff) != SQLITE_BUSY || waited >= kBusyMilliseconds)
      throw SQLite::Exception(database.getHandle(), code);
    std::this_thread::sleep_for(std::chrono::milliseconds(kRetryMilliseconds));
  }
}

std::unique_ptr<SQLite::Database> open_database(const std::string& path) {
  auto database =
      std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMilliseconds);
  use_write_ahead_log(*database);
  database->exec("PRAGMA synchronous=FULL");
  // Immediate: two processes that open a new file at once make its tables one after the other.
  database->exec("BEGIN IMMEDIATE");
  const int version = database->execAndGet("PRAGMA user_version").getInt();
  if (version > kSchemaVersion)
    throw SQLite::Exception("schema " + std::to_string(version) + " of a newer version of this program");
  database->exec(kTables);
  database->exec("PRAGMA user_version=" + std::to_string(kSchemaVersion));
  database->exec("COMMIT");
  return database;
}

std::unique_ptr<SQLite::Database> open_memory() {
  auto database = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database->exec(kTables);
  return database;
}

std::optional<std::string> read_text(SQLite::Database& database, const Table& table, const std::string& key) {
  SQLite::Statement query(database, std::string("SELECT ") + table.column + " FROM " + table.name + " WHERE key=?");
  query.bind(1, key);
  if (!query.executeStep()) return std::nullopt;
  return query.getColumn(0).getString();
}

void write_text(SQLite::Database& database, const Table& table, const std::string& key, const std::string& text) {
  SQLite::Statement insert(database, std::string("INSERT INTO ") + table.name + "(key," + table.column +
                                         ") VALUES(?,?) ON CONFLICT(key) DO UPDATE SET " + table.column + "=excluded." +
                                         table.column);
  insert.bind(1, key);
  insert.bind(2, text);
  insert.exec();
}

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

  std::optional<std::string> read(const Table& table, const std::string& key) {
    for (SQLite::Database* database : {memory.get(), file.get()}) {
      if (database == nullptr) continue;
      try {
        if (auto text = read_text(*database, table, key)) return text;
      } catch (const std::exception& exception) {
        warn(exception.what());
      }
    }
    return std::nullopt;
  }

  void write(const Table& table, const std::string& key, const std::string& text) {
    if (file && !memory) {
      try {
        write_text(*file, table, key, text);
        return;
      } catch (const std::exception& exception) {
        warn(exception.what());
      }
    }
    if (!memory) memory = open_memory();
    write_text(*memory, table, key, text);
  }

  std::size_t count(const Table& table) {
    std::size_t total = 0;
    for (SQLite::Database* database : {memory.get(), file.get()}) {
      if (database == nullptr) continue;
      try {
        total += static_cast<std::size_t>(
            database->execAndGet(std::string("SELECT count(*) FROM ") + table.name).getInt64());
      } catch (const std::exception& exception) {
        warn(exception.what());
      }
    }
    return total;
  }

  /// The database and its folder of artifacts, or a warning and memory.
  void open_path(std::string file_path) {
    path = std::move(file_path);
    folder = path + ".files";
    std::error_code error;
    fs::create_directories(folder, error);
    try {
      file = open_database(path);
    } catch (const std::exception& exception) {
      warn(exception.what());
    }
    const bool can_write = !error && ::access(folder.c_str(), W_OK) == 0;
    if (!can_write) warn("its folder of artifacts cannot be written");
    if (!file || !can_write) use_temporary_folder();
    if (!file) memory = open_memory();
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
    state->memory = open_memory();
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
  const auto text = state_->read(kCosts, key);
  return text ? parse_cost(*text) : std::nullopt;
}
void Store::put_cost(const std::string& key, const Cost& cost) { state_->write(kCosts, key, to_line(to_json(cost))); }

std::optional<std::string> Store::artifact(const std::string& key) { return state_->read(kArtifacts, key); }
void Store::put_artifact(const std::string& key, const std::string& hash) { state_->write(kArtifacts, key, hash); }

std::optional<std::string> Store::verdict(const std::string& key) { return state_->read(kVerdicts, key); }
void Store::put_verdict(const std::string& key, const std::string& json) { state_->write(kVerdicts, key, json); }

const std::string& Store::artifact_folder() const { return state_->folder; }
bool Store::is_durable() const { return state_->file != nullptr && state_->memory == nullptr; }
const std::vector<std::string>& Store::warnings() const { return state_->warnings; }

Store::Counts Store::counts() {
  return {.costs = state_->count(kCosts), .artifacts = state_->count(kArtifacts), .verdicts = state_->count(kVerdicts)};
}

std::vector<std::pair<std::string, Cost>> Store::costs_like(const std::string& part) {
  std::vector<std::pair<std::string, Cost>> found;
  for (SQLite::Database* database : {state_->memory.get(), state_->file.get()}) {
    if (database == nullptr) continue;
    try {
      SQLite::Statement query(*database, "SELECT key, cost FROM costs WHERE instr(key, ?) > 0 ORDER BY key");
      query.bind(1, part);
      while (query.executeStep())
        if (auto cost = parse_cost(query.getColumn(1).getString()))
          found.emplace_back(query.getColumn(0).getString(), *cost);
    } catch (const std::exception& exception) {
      state_->warn(exception.what());
    }
  }
  return found;
}

}  // namespace collage
