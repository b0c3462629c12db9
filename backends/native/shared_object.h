// A shared object loaded from bytes in memory, without a file that remains.
// In:  the bytes of a linked object that depends on the C library only. Out: its symbols, for as long as it lives.
// Cost: a copy of the bytes and the dynamic loader's work (tens of microseconds).
// How: backends/common/object/object_file.h.
// An exported library has linked/linked_object.cpp instead, whose bytes name code that is there already.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "embedded/kernel_runtime.h"

namespace collage::native {

class SharedObject {
 public:
  /// Error backend/bad-artifact with the loader's words; io/cannot-write when there is no place for the bytes.
  [[nodiscard]] static Result<std::shared_ptr<const SharedObject>> load(std::string_view bytes,
                                                                        const RuntimeTable& runtime);
  explicit SharedObject(void* handle) : handle_(handle) {}
  ~SharedObject();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  /// Null when there is none.
  [[nodiscard]] void* symbol(const std::string& name) const;

 private:
  void* handle_;
};

}  // namespace collage::native
