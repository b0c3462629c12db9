#include "api/c/sized_struct.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "api/c/status.h"

namespace collage::c_api {
namespace {

/// No struct of this interface grows to this size: the caller forgot to set it.
constexpr std::size_t kLargestStruct = 4096;

Result<std::size_t> size_of(const void* given, std::size_t our_bytes, const char* name) {
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size >= sizeof size && size <= kLargestStruct) return size;
  return fail(ExitCode::kUsage, "api/wrong-size", name, "size " + std::to_string(size),
              std::string("sizeof(") + name + "), here " + std::to_string(our_bytes));
}

}  // namespace

Result<void> read_sized(const void* given, void* ours, std::size_t our_bytes, const char* name) {
  COLLAGE_TRY(const std::size_t size, size_of(given, our_bytes, name));
  const auto* const bytes = static_cast<const std::byte*>(given);
  for (std::size_t i = our_bytes; i < size; ++i)
    if (bytes[i] != std::byte{0})
      return fail(ExitCode::kUsage, "api/unknown-option", name, "a value other than 0 at byte " + std::to_string(i),
                  "what this library knows: " + std::to_string(our_bytes) + " bytes");
  std::memcpy(ours, given, std::min(size, our_bytes));
  return {};
}

Result<void> write_sized(const void* ours, std::size_t our_bytes, void* given, const char* name) {
  COLLAGE_TRY_VOID(check_not_null(given, name));
  COLLAGE_TRY(const std::size_t size, size_of(given, our_bytes, name));
  auto* const bytes = static_cast<std::byte*>(given);
  const std::size_t known = std::min(size, our_bytes);
  std::memcpy(bytes + sizeof size, static_cast<const std::byte*>(ours) + sizeof size, known - sizeof size);
  std::memset(bytes + known, 0, size - known);
  return {};
}

}  // namespace collage::c_api
