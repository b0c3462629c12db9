// A tune's scratch folder; goes away with its owner.
#pragma once

#include <string>

#include "base/error.h"

namespace collage {

class WorkFolder {
 public:
  /// Error io/cannot-write.
  [[nodiscard]] static Result<WorkFolder> create();
  WorkFolder(WorkFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace collage
