// A layer between SQLite and the file system: an observer sees every call before it is made and may fail it.
// In: the calls of every database this process opens while a shim lives. Out: the same calls, or an error.
// Source: https://www.sqlite.org/vfs.html
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace collage::test {

enum class FileAct : std::uint8_t {
  kOpen,      ///< `is_new` when the file was not there
  kDelete,    ///< durable at once when `folder_too`
  kAccess,    ///< asks whether a file is there
  kRead,      ///< and asking for its size
  kWrite,     ///< `bytes` at `offset`
  kTruncate,  ///< to `offset` bytes
  kSync,      ///< `folder_too`: the first sync of a journal or log, which its folder is synced with
  kLock,
  kShare  ///< maps or locks memory shared with other processes
};

struct FileCall {
  FileAct act = FileAct::kOpen;
  std::string path;
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;
  bool is_new = false;
  bool folder_too = false;
};

class FileObserver {
 public:
  virtual ~FileObserver() = default;
  /// SQLITE_OK: the call is made. An error is what SQLite gets instead; of a write the first half is made nevertheless.
  virtual int before(const FileCall& call) = 0;
};

/// SQLite's default VFS as long as it lives; open databases must not outlive it. One at a time.
class SqliteShim {
 public:
  explicit SqliteShim(FileObserver& observer);
  ~SqliteShim();
  SqliteShim(const SqliteShim&) = delete;
  SqliteShim& operator=(const SqliteShim&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace collage::test
