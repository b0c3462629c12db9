#include "store/store_file.h"

#include <sqlite3.h>

#include <chrono>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/shorten.h"

namespace collage {
namespace {

constexpr int kSchemaVersion = 4;
constexpr int kBusyMilliseconds = 20'000;
constexpr int kRetryMilliseconds = 5;
constexpr int kMostTextBytes = 256 << 20;
constexpr std::size_t kMostNameBytes = 128;  ///< in messages
constexpr const char* kSetAside =
    "CREATE TABLE IF NOT EXISTS damaged(source TEXT, key TEXT, text TEXT, checksum TEXT, PRIMARY KEY(source, key)) "
    "WITHOUT ROWID";
constexpr const char* kLeases =
    "CREATE TABLE IF NOT EXISTS leases(key TEXT PRIMARY KEY, tuner INTEGER NOT NULL, since_ns INTEGER NOT NULL, "
    "until_ns INTEGER NOT NULL) WITHOUT ROWID";

std::string checksum_of(const StoreTable& table, const std::string& key, const std::string& text) {
  return hash_hex(fmt::format("{}:{}:{}:{}", table.name, key.size(), key, text));
}

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

void make_tables(SQLite::Database& database) {
  for (const StoreTable& table : kStoreTables)
    database.exec(
        fmt::format("CREATE TABLE IF NOT EXISTS {}(key TEXT PRIMARY KEY, {} TEXT NOT NULL, "
                    "checksum TEXT NOT NULL DEFAULT '') WITHOUT ROWID",
                    table.name, table.column));
  database.exec(kSetAside);
  database.exec(kLeases);
}

/// The first schema had three tables without checksums: their contents are trusted.
void add_checksums(SQLite::Database& database) {
  for (const StoreTable& table : {kCostTable, kArtifactTable, kVerdictTable}) {
    database.exec(fmt::format("ALTER TABLE {} ADD COLUMN checksum TEXT NOT NULL DEFAULT ''", table.name));
    std::vector<std::pair<std::string, std::string>> records;
    SQLite::Statement query(database, fmt::format("SELECT key, {} FROM {}", table.column, table.name));
    while (query.executeStep()) records.emplace_back(query.getColumn(0).getString(), query.getColumn(1).getString());
    SQLite::Statement update(database, fmt::format("UPDATE {} SET checksum=? WHERE key=?", table.name));
    for (const auto& [key, text] : records) {
      update.bind(1, checksum_of(table, key, text));
      update.bind(2, key);
      update.exec();
      update.reset();
    }
  }
}

/// What a file that others made may hold beside tables and indices: views and triggers that never end, modules with
/// tables of their own. And a text may be longer than any of ours.
/// Source: https://www.sqlite.org/security.html
void take_tables_only(SQLite::Database& database) {
  sqlite3* const handle = database.getHandle();
  for (const int off : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
    ::sqlite3_db_config(handle, off, 0, nullptr);
  ::sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  ::sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostTextBytes);
  database.exec("PRAGMA cell_size_check=ON");
  SQLite::Statement others(database,
                           "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR "
                           "sql LIKE 'CREATE VIRTUAL%'");
  if (others.executeStep())
    throw SQLite::Exception("more than tables: '" + shortened(others.getColumn(0).getString(), kMostNameBytes) + "'");
}

int schema_of(SQLite::Database& database) { return database.execAndGet("PRAGMA user_version").getInt(); }

struct StoredText {
  std::string text;
  bool is_sound = false;
};

std::optional<StoredText> stored_text(SQLite::Database& database, const StoreTable& table, const std::string& key) {
  SQLite::Statement query(database, fmt::format("SELECT {}, checksum FROM {} WHERE key=?", table.column, table.name));
  query.bind(1, key);
  if (!query.executeStep()) return std::nullopt;
  StoredText found{.text = query.getColumn(0).getString()};
  found.is_sound = query.getColumn(1).getString() == checksum_of(table, key, found.text);
  return found;
}

void set_aside(SQLite::Database& database, const StoreTable& table, const std::string& key) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  SQLite::Statement copy(database, fmt::format("INSERT OR REPLACE INTO damaged SELECT '{}', key, {}, checksum FROM {} "
                                               "WHERE key=?",
                                               table.name, table.column, table.name));
  copy.bind(1, key);
  copy.exec();
  SQLite::Statement remove(database, fmt::format("DELETE FROM {} WHERE key=?", table.name));
  remove.bind(1, key);
  remove.exec();
  transaction.commit();
}

void insert(SQLite::Database& database, const StoreTable& table, const std::string& key, const std::string& text) {
  SQLite::Statement insert(database, fmt::format("INSERT INTO {0}(key,{1},checksum) VALUES(?,?,?) ON CONFLICT(key) DO "
                                                 "UPDATE SET {1}=excluded.{1}, checksum=excluded.checksum",
                                                 table.name, table.column));
  insert.bind(1, key);
  insert.bind(2, text);
  insert.bind(3, checksum_of(table, key, text));
  insert.exec();
}

}  // namespace

std::unique_ptr<SQLite::Database> open_store_file(const std::string& path) {
  auto database =
      std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMilliseconds);
  take_tables_only(*database);
  use_write_ahead_log(*database);
  database->exec("PRAGMA synchronous=FULL");
  if (schema_of(*database) == kSchemaVersion) return database;
  // Immediate: two processes that open a new file at once make its tables one after the other.
  SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
  const int version = schema_of(*database);
  if (version > kSchemaVersion)
    throw SQLite::Exception("schema " + std::to_string(version) + " of a newer version of this program");
  if (version == 1) add_checksums(*database);
  make_tables(*database);
  database->exec("PRAGMA user_version=" + std::to_string(kSchemaVersion));
  transaction.commit();
  return database;
}

std::unique_ptr<SQLite::Database> open_store_memory() {
  auto database = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  make_tables(*database);
  return database;
}

void leave_log(SQLite::Database& database) {
  ::sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void write_record(SQLite::Database& database, const StoreTable& table, const std::string& key,
                  const std::string& text) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  insert(database, table, key, text);
  if (std::string_view(table.name) == kCostTable.name) {
    SQLite::Statement end_lease(database, "DELETE FROM leases WHERE key=?");
    end_lease.bind(1, key);
    end_lease.exec();
  }
  transaction.commit();
}

void write_records(SQLite::Database& database, const StoreTable& table,
                   std::span<const std::pair<std::string, std::string>> records) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  for (const auto& [key, text] : records) insert(database, table, key, text);
  transaction.commit();
}

std::optional<std::string> sound_record(SQLite::Database& database, const StoreTable& table, const std::string& key) {
  const auto found = stored_text(database, table, key);
  return found && found->is_sound ? std::optional(found->text) : std::nullopt;
}

std::optional<std::string> read_record(SQLite::Database& database, const StoreTable& table, const std::string& key,
                                       std::size_t& damaged) {
  const auto found = stored_text(database, table, key);
  if (!found || found->is_sound) return found ? std::optional(found->text) : std::nullopt;
  set_aside(database, table, key);
  ++damaged;
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> read_records(SQLite::Database& database, const StoreTable& table,
                                                              const std::string& part, std::size_t& damaged) {
  std::vector<std::pair<std::string, std::string>> sound;
  std::vector<std::string> broken;
  SQLite::Statement query(database, fmt::format("SELECT key, {}, checksum FROM {} WHERE instr(key, ?) > 0 ORDER BY key",
                                                table.column, table.name));
  query.bind(1, part);
  while (query.executeStep()) {
    std::string key = query.getColumn(0).getString();
    std::string text = query.getColumn(1).getString();
    if (query.getColumn(2).getString() == checksum_of(table, key, text))
      sound.emplace_back(std::move(key), std::move(text));
    else
      broken.push_back(std::move(key));
  }
  query.reset();
  for (const std::string& key : broken) set_aside(database, table, key);
  damaged += broken.size();
  return sound;
}

void remove_record(SQLite::Database& database, const StoreTable& table, const std::string& key) {
  SQLite::Statement remove(database, fmt::format("DELETE FROM {} WHERE key=?", table.name));
  remove.bind(1, key);
  remove.exec();
}

void remove_records(SQLite::Database& database, const std::string& part) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  for (const StoreTable& table : kStoreTables) {
    SQLite::Statement remove(database, fmt::format("DELETE FROM {} WHERE instr(key, ?) > 0", table.name));
    remove.bind(1, part);
    remove.exec();
  }
  // What no cost is of any more: keys of costs begin with that of their region and a space, which '!' follows.
  database.exec(
      "DELETE FROM regions WHERE NOT EXISTS(SELECT 1 FROM costs WHERE costs.key >= regions.key || ' ' AND costs.key < "
      "regions.key || '!')");
  transaction.commit();
}

std::size_t count_records(SQLite::Database& database, const StoreTable& table) {
  return static_cast<std::size_t>(database.execAndGet(std::string("SELECT count(*) FROM ") + table.name).getInt64());
}

std::size_t count_set_aside(SQLite::Database& database) {
  return static_cast<std::size_t>(database.execAndGet("SELECT count(*) FROM damaged").getInt64());
}

}  // namespace collage
