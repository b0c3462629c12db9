// Immutable bytes with shared ownership: constants, mapped files, artifacts. Copying a Buffer copies no bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace collage {

class Buffer {
 public:
  Buffer() = default;
  /// Bytes kept alive by `owner`.
  Buffer(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}

  /// A 64-byte aligned copy.
  [[nodiscard]] static Buffer copy_of(std::span<const std::byte> bytes);
  /// `bytes` zeroed bytes, 64-byte aligned; `fill` may write them before the buffer is shared.
  template <class Fill>
  [[nodiscard]] static Buffer make(std::size_t bytes, Fill&& fill) {
    auto [buffer, writable] = allocate(bytes);
    fill(writable);
    return buffer;
  }
  /// The whole file mapped read-only. Error io/cannot-read.
  [[nodiscard]] static Result<Buffer> map_file(const std::string& path);

  /// A part of this buffer that shares its owner.
  [[nodiscard]] Buffer slice(std::size_t offset, std::size_t bytes) const;

  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  /// Equal contents.
  bool operator==(const Buffer& other) const;

 private:
  static std::pair<Buffer, std::span<std::byte>> allocate(std::size_t bytes);

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace collage
