// The SQLite file of a cost store: tables, migrations, records with checksums. Internal to the store.
// In:  a path. Out: records. A record whose checksum is wrong is moved to a table of its own.
// Every function throws SQLite::Exception when the file fails.
// Source: https://www.sqlite.org/wal.html, https://www.sqlite.org/pragma.html#pragma_synchronous
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace collage {

/// A table with a text key and one text column.
struct StoreTable {
  const char* name;
  const char* column;
};
inline constexpr StoreTable kCostTable = {"costs", "cost"};
inline constexpr StoreTable kArtifactTable = {"artifacts", "hash"};
inline constexpr StoreTable kVerdictTable = {"verdicts", "json"};
inline constexpr StoreTable kRegionTable = {"regions", "json"};
inline constexpr StoreTable kStoreTables[] = {kCostTable, kArtifactTable, kVerdictTable, kRegionTable};

/// Opens or makes the file, brings an older one to this schema in one transaction, refuses a newer one.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_store_file(const std::string& path);
[[nodiscard]] std::unique_ptr<SQLite::Database> open_store_memory();

/// From now on closing the file leaves its log unchanged, so that the next process that opens it checks it: for a file
/// with an error.
void leave_log(SQLite::Database& database);

/// Committed and synced when it returns. A cost ends the lease of its key, whichever tuner holds it.
void write_record(SQLite::Database& database, const StoreTable& table, const std::string& key, const std::string& text);
/// The same for several of one table, all or none.
void write_records(SQLite::Database& database, const StoreTable& table,
                   std::span<const std::pair<std::string, std::string>> records);
/// Nothing for a record that is not there. A damaged one is set aside and counted in `damaged`.
[[nodiscard]] std::optional<std::string> read_record(SQLite::Database& database, const StoreTable& table,
                                                     const std::string& key, std::size_t& damaged);
/// Key and text of all sound records whose key contains `part`, by key; damaged ones are set aside and counted.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> read_records(SQLite::Database& database,
                                                                            const StoreTable& table,
                                                                            const std::string& part,
                                                                            std::size_t& damaged);
/// The same for one key, but nothing is set aside: for use inside a transaction.
[[nodiscard]] std::optional<std::string> sound_record(SQLite::Database& database, const StoreTable& table,
                                                      const std::string& key);
void remove_record(SQLite::Database& database, const StoreTable& table, const std::string& key);
/// Removes the records whose key contains `part` from all tables at once.
void remove_records(SQLite::Database& database, const std::string& part);
[[nodiscard]] std::size_t count_records(SQLite::Database& database, const StoreTable& table);
/// Records that were set aside since the file was made.
[[nodiscard]] std::size_t count_set_aside(SQLite::Database& database);

}  // namespace collage
