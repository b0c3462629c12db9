// What a disk may hold after the power went: the calls of a session, replayed up to any moment with what was not synced
// lost, kept, torn or out of order.
// In: the writes, truncations, syncs, creations and removals a SqliteShim saw. Out: files.
// How: what a file held at its last sync is safe. Of the writes after it any subset may have reached the disk, and of
// each of those any of its sectors. A file's creation or removal is safe when its folder was synced.
// Source: the failure model of https://www.sqlite.org/atomiccommit.html, with powersafe overwrite.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/dice.h"
#include "tests/support/sqlite_shim.h"

namespace collage::test {

struct DiskEvent {
  FileAct act = FileAct::kWrite;
  std::string path;
  std::int64_t offset = 0;
  std::string bytes;
  bool folder_too = false;
};

/// Writes down what changes a disk.
class DiskRecorder final : public FileObserver {
 public:
  int before(const FileCall& call) override;
  [[nodiscard]] const std::vector<DiskEvent>& events() const { return events_; }

 private:
  std::vector<DiskEvent> events_;
};

/// A disk to which events happen one after the other.
class CrashDisk {
 public:
  void apply(const DiskEvent& event);
  /// The files, by path, if the power went now.
  [[nodiscard]] std::map<std::string, std::string> after_power_loss(Dice& dice) const;

 private:
  struct File {
    std::string safe;
    std::vector<DiskEvent> unsafe;      ///< writes and truncations since the last sync
    bool is_there = false;              ///< as the program sees it
    bool is_safely_there = false;       ///< as its folder on the disk says, perhaps still of
    std::optional<std::string> former;  ///< a removed file of this name
  };
  static void happen(std::string& content, const DiskEvent& event);

  std::map<std::string, File> files_;
};

}  // namespace collage::test
