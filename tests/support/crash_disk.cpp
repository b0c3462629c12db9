#include "tests/support/crash_disk.h"

#include <algorithm>

namespace collage::test {

int DiskRecorder::before(const FileCall& call) {
  const bool changes = call.act == FileAct::kWrite || call.act == FileAct::kTruncate || call.act == FileAct::kSync ||
                       call.act == FileAct::kDelete || (call.act == FileAct::kOpen && call.is_new);
  if (changes)
    events_.push_back({.act = call.act,
                       .path = call.path,
                       .offset = call.offset,
                       .bytes = {reinterpret_cast<const char*>(call.bytes.data()), call.bytes.size()},
                       .folder_too = call.folder_too});
  return SQLITE_OK;
}

void CrashDisk::happen(std::string& content, const DiskEvent& event) {
  const auto offset = static_cast<std::size_t>(event.offset);
  if (event.act == FileAct::kTruncate) {
    content.resize(offset);
    return;
  }
  if (content.size() < offset + event.bytes.size()) content.resize(offset + event.bytes.size());
  content.replace(offset, event.bytes.size(), event.bytes);
}

void CrashDisk::apply(const DiskEvent& event) {
  File& file = files_[event.path];
  switch (event.act) {
    case FileAct::kOpen:
      file.is_there = true;
      if (file.is_safely_there && !file.former) file.former = file.safe;
      file.safe.clear();
      file.unsafe.clear();
      break;
    case FileAct::kDelete:
      file.is_there = false;
      break;
    case FileAct::kSync:
      for (const DiskEvent& one : file.unsafe) happen(file.safe, one);
      file.unsafe.clear();
      break;
    default:
      file.unsafe.push_back(event);
  }
  if (event.folder_too)
    for (auto& [path, each] : files_) {
      each.is_safely_there = each.is_there;
      each.former.reset();
    }
}

std::map<std::string, std::string> CrashDisk::after_power_loss(Dice& dice) const {
  // How much of what was not synced arrives: nothing, all, or this many of eight.
  const std::size_t arriving = dice.pick(std::vector<std::size_t>{0, 8, 1 + dice.below(7)});
  const std::size_t sector = dice.one_in(2) ? 512 : 4096;
  const auto arrives = [&] { return dice.below(8) < arriving; };
  std::map<std::string, std::string> found;
  for (const auto& [path, file] : files_) {
    const bool folder_arrives = arrives();
    if (!(folder_arrives ? file.is_there : file.is_safely_there)) continue;
    if (!folder_arrives && file.former) {
      found[path] = *file.former;
      continue;
    }
    std::string content = file.safe;
    for (const DiskEvent& event : file.unsafe) {
      if (!arrives()) continue;
      const bool is_torn = event.act == FileAct::kWrite && dice.one_in(2);
      if (!is_torn) {
        happen(content, event);
        continue;
      }
      // Sectors lie at their places in the file, so a write may begin and end inside one.
      const auto end = static_cast<std::size_t>(event.offset) + event.bytes.size();
      for (auto at = static_cast<std::size_t>(event.offset); at < end;) {
        const std::size_t next = std::min(end, (at / sector + 1) * sector);
        if (arrives())
          happen(content, {.act = FileAct::kWrite,
                           .path = {},
                           .offset = static_cast<std::int64_t>(at),
                           .bytes = event.bytes.substr(at - static_cast<std::size_t>(event.offset), next - at)});
        at = next;
      }
    }
    found[path] = std::move(content);
  }
  return found;
}

}  // namespace collage::test
