// Structs that begin with their size in bytes, so that a program and a library with different headers understand each
// other: the shorter one has the members that both know.
#pragma once

#include <cstddef>

#include "base/error.h"

namespace collage::c_api {

/// Copies a struct of options that the caller passed in over ours, which has the defaults. Members behind ours must be
/// 0. Errors: api/wrong-size, api/unknown-option; `name` is the struct's.
[[nodiscard]] Result<void> read_sized(const void* given, void* ours, std::size_t our_bytes, const char* name);

/// Copies our struct to the caller's, whose member `size` stays as it is; members behind ours become 0. Errors:
/// api/null-argument, api/wrong-size.
[[nodiscard]] Result<void> write_sized(const void* ours, std::size_t our_bytes, void* given, const char* name);

/// The caller's options; all 0 for null.
template <class Options>
[[nodiscard]] Result<Options> options_of(const Options* given, const char* name) {
  Options options{};
  if (given != nullptr) COLLAGE_TRY_VOID(read_sized(given, &options, sizeof options, name));
  return options;
}

template <class Struct>
[[nodiscard]] Result<void> give(const Struct& ours, Struct* given, const char* name) {
  return write_sized(&ours, sizeof ours, given, name);
}

}  // namespace collage::c_api
