// Replaces a file atomically: it is written under a temporary name beside the target and renamed when complete;
// internal to src/plan/file.
// In:  a target path. Out: a locked descriptor. The target is either replaced or unchanged.
#pragma once

#include <string>

#include "base/error.h"
#include "plan/file/durability.h"

namespace collage {

/// A new locked file beside its target; removed unless it was renamed to the target.
class TemporaryFile {
 public:
  /// Also removes temporaries that killed runs left for the same target. Error io/cannot-write.
  [[nodiscard]] static Result<TemporaryFile> make(const std::string& target);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Errors io/cannot-write, io/not-synced.
  [[nodiscard]] Result<void> rename_to(const std::string& target, Durability durability = Durability::kSynced);

 private:
  TemporaryFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

}  // namespace collage
