// The bytes of an array that an object of Python shows.
// In:  an object and the element type wanted. Out: address, extents, and a hold on the memory.
// Threads: made and dropped under the interpreter's lock; the bytes may be read without it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "element_type.h"

namespace collage::python {

/// Where an array came from, for errors: "input x".
struct ArrayPlace {
  const char* kind = "input";
  const char* name = "";

  [[nodiscard]] std::string text() const { return std::string(kind) + " " + name; }
};

class ArrayView {
 public:
  ArrayView() = default;
  ArrayView(ArrayView&& other) noexcept;
  ArrayView& operator=(ArrayView&& other) noexcept;
  ~ArrayView() { release(); }

  /// Row-major elements of this type. Anything but a row-major buffer of the right type is converted by
  /// collage.arrays.readable, which throws api/wrong-type when values could change.
  [[nodiscard]] static ArrayView readable(nanobind::handle object, const ElementFacts& facts, const ArrayPlace& place);
  /// An array that the caller gave to be filled: row-major, writable, of this type; else throws api/wrong-array.
  [[nodiscard]] static ArrayView writable(nanobind::handle object, const ElementFacts& facts, const ArrayPlace& place);
  /// The bytes of an array of our own, whatever its type.
  [[nodiscard]] static ArrayView own(nanobind::handle object);

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(view_.buf); }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(view_.len); }
  /// Of the array that the caller sees: elements smaller than a byte are packed in the bytes.
  [[nodiscard]] std::span<const Py_ssize_t> extents() const { return {extents_, static_cast<std::size_t>(rank_)}; }

 private:
  [[nodiscard]] bool open(nanobind::handle object, int flags);
  void release();
  void take(ArrayView& other) noexcept;

  Py_buffer view_{};
  bool is_open_ = false;
  const Py_ssize_t* extents_ = nullptr;
  int rank_ = 0;
};

/// "[1,3,224]".
[[nodiscard]] std::string text_of(std::span<const Py_ssize_t> extents);

}  // namespace collage::python
