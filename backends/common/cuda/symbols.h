// Functions of a library that was opened at run time.
#pragma once

#include <dlfcn.h>

#include <string>

namespace collage::cuda {

/// Fills in pointers, and keeps the first name that the library lacks.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  /// Empty when all were found.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

}  // namespace collage::cuda
