// Reads fields of the wire format of Protocol Buffers without keeping anything of them.
// In:  bytes and a position. Out: the next field, the position behind it.
// Cost: constant for each field; contents are not looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace collage {

enum class WireType : std::uint8_t { kVarint, kFixed64, kDelimited, kGroupStart, kGroupEnd, kFixed32 };

struct WireField {
  std::uint64_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;    ///< of a varint
  std::string_view contents;  ///< of a delimited field or one of fixed size
};

enum class WireFault : std::uint8_t {
  kNone,
  kCutOff,    ///< it runs past the end
  kMalformed  ///< no field can look like this
};

/// A number; nothing when it has no end within ten bytes or within `bytes`.
[[nodiscard]] std::optional<std::uint64_t> read_varint(std::string_view bytes, std::size_t& at);

/// Reads the field at `at` and moves behind it: behind its key if that opens or closes a group. After a fault the
/// number and the type are those of the key, if there is a whole one.
[[nodiscard]] WireFault read_field(std::string_view bytes, std::size_t& at, WireField& field);

}  // namespace collage
