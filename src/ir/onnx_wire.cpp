#include "ir/onnx_wire.h"

namespace collage {

std::optional<std::uint64_t> read_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (!(byte & 0x80)) return value;
  }
  return std::nullopt;
}

WireFault read_field(std::string_view bytes, std::size_t& at, WireField& field) {
  field = {};
  const auto key = read_varint(bytes, at);
  if (!key) return at == bytes.size() ? WireFault::kCutOff : WireFault::kMalformed;
  field.number = *key >> 3;
  if (field.number == 0 || field.number >= std::uint64_t{1} << 29 || (*key & 7) > 5) return WireFault::kMalformed;
  field.type = static_cast<WireType>(*key & 7);
  std::uint64_t length = field.type == WireType::kFixed64 ? 8 : field.type == WireType::kFixed32 ? 4 : 0;
  if (field.type == WireType::kVarint || field.type == WireType::kDelimited) {
    const auto value = read_varint(bytes, at);
    if (!value) return at == bytes.size() ? WireFault::kCutOff : WireFault::kMalformed;
    (field.type == WireType::kVarint ? field.value : length) = *value;
  }
  if (length > bytes.size() - at) return WireFault::kCutOff;
  field.contents = bytes.substr(at, length);
  at += length;
  return WireFault::kNone;
}

}  // namespace collage
