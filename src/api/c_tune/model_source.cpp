#include "api/c_tune/model_source.h"

#include <string_view>
#include <utility>

#include "api/c_tune/texts.h"
#include "base/file.h"
#include "plan/plan.h"

namespace collage::c_api {

Result<ModelSource> ModelSource::from(const char* path, const void* bytes, std::size_t byte_count,
                                      const std::string& options) {
  if ((path != nullptr) == (bytes != nullptr))
    return bad_option(option_label(options + ".model"), path == nullptr ? "no model" : "a path and bytes",
                      "a path in model, or bytes in model_bytes");
  ModelSource source;
  if (path != nullptr) {
    source.path_ = path;
    return source;
  }
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  source.path_ = folder.file("model.onnx");
  source.folder_.emplace(std::move(folder));
  const std::string_view contents(static_cast<const char*>(bytes), byte_count);
  COLLAGE_TRY_VOID(write_file(source.path_, contents));
  return source;
}

std::string ModelSource::name() const { return folder_ ? kModelInMemory : ""; }

Error ModelSource::renamed(Error error) const {
  if (!folder_) return error;
  for (std::string* text : {&error.where, &error.saw, &error.allowed})
    for (std::size_t at = text->find(path_); at != std::string::npos; at = text->find(path_))
      text->replace(at, path_.size(), kModelInMemory);
  return error;
}

}  // namespace collage::c_api
