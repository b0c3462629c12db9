// A temporary folder that is removed with the object that owns it. The owner holds a file lock on it, so that the
// folder of a process that was killed is recognised, and removed when this user's next folder is made.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace collage {

class WorkFolder {
 public:
  /// Error io/cannot-write.
  [[nodiscard]] static Result<WorkFolder> create();
  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  WorkFolder(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;  ///< of the folder, locked
};

}  // namespace collage
