// A model that C gave as a path or as bytes, as a path for those who read it.
// In: a path, or bytes. Out: a path; for bytes that of a file which lives as long as this object.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "base/work_folder.h"

namespace collage::c_api {

class ModelSource {
 public:
  /// Exactly one of the two; `options` is the name of the struct. Errors api/wrong-option, io/cannot-write.
  [[nodiscard]] static Result<ModelSource> from(const char* path, const void* bytes, std::size_t byte_count,
                                                const std::string& options);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// What plans and reports call it; "" = by its path.
  [[nodiscard]] std::string name() const;
  /// With that name in place of the file's path, which nobody else knows.
  [[nodiscard]] Error renamed(Error error) const;

 private:
  std::string path_;
  std::optional<WorkFolder> folder_;  ///< of a model in memory
};

}  // namespace collage::c_api
