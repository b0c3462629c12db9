// Converts tensors between `plain` and any other format, in a worker: the two common formats with reference code, a
// backend's own formats with that backend's conversion kernels. Not here: conversions as steps of a plan, which are
// candidates and are timed.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "backend/registry.h"

namespace collage {

/// Keeps the loaded conversion kernels. One thread; the registry outlives it.
class FormatConverter {
 public:
  explicit FormatConverter(Registry& registry) : registry_(registry) {}

  /// Bytes a static tensor takes in a format. Error format/unknown when its owner does not support it.
  [[nodiscard]] Result<std::size_t> bytes_of(const ValueType& type, const Format& format);

  /// Converts `in` (in format `from`) to `out` (in format `to`), both 64-byte aligned and of bytes_of() their format;
  /// one of the formats is plain. Error format/*, or the kernel's.
  [[nodiscard]] Result<void> convert(const ValueType& type, const Format& from, std::span<const std::byte> in,
                                     const Format& to, std::span<std::byte> out, int threads);

 private:
  struct Loaded {
    std::unique_ptr<Kernel> kernel;
    std::size_t workspace_bytes = 0;
  };

  [[nodiscard]] Result<Backend*> owner_of(const Format& format);
  [[nodiscard]] Result<const Loaded*> kernel_for(const Conversion& conversion, int threads);

  Registry& registry_;
  std::map<std::string, Loaded> kernels_;
};

}  // namespace collage
