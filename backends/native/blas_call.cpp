#include "blas_call.h"

#include <map>
#include <mutex>

namespace collage::native {

const std::expected<blas::Library, std::string>& blas_library(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::expected<blas::Library, std::string>> opened;
  const std::lock_guard lock(mutex);
  const auto found = opened.find(name);
  return found != opened.end() ? found->second : opened.emplace(name, blas::open_library(name, "")).first->second;
}

}  // namespace collage::native
