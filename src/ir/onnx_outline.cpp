#include "ir/onnx_outline.h"

#include <optional>

namespace collage {
namespace {

enum WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kGroupStart = 3,
  kGroupEnd = 4,
  kFixed32 = 5
};

/// The fields of ModelProto.
constexpr std::uint64_t kKnown = 1ULL << 1 | 1ULL << 2 | 1ULL << 3 | 1ULL << 4 | 1ULL << 5 | 1ULL << 6 | 1ULL << 7 |
                                 1ULL << 8 | 1ULL << 14 | 1ULL << 20 | 1ULL << 25 | 1ULL << 26;

bool is_known(std::uint64_t field) { return field <= 63 && (kKnown >> field & 1) != 0; }

/// ModelProto has integers and length-delimited fields only.
std::uint64_t wire_type_of_known(std::uint64_t field) { return field == 1 || field == 5 ? kVarint : kLengthDelimited; }

std::optional<std::uint64_t> read_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (!(byte & 0x80)) return value;
  }
  return std::nullopt;
}

/// Moves behind the contents of a field; of a group, behind its mark.
Outline skip(std::string_view bytes, std::uint64_t wire_type, std::size_t& at) {
  std::uint64_t length = 0;
  if (wire_type == kFixed64) length = 8;
  if (wire_type == kFixed32) length = 4;
  if (wire_type > kFixed32) return Outline::kOther;
  if (wire_type == kVarint || wire_type == kLengthDelimited) {
    const auto value = read_varint(bytes, at);
    if (!value) return at == bytes.size() ? Outline::kCutOff : Outline::kOther;
    if (wire_type == kLengthDelimited) length = *value;
  }
  if (length > bytes.size() - at) return Outline::kCutOff;
  at += length;
  return Outline::kModel;
}

}  // namespace

Outline outline_of(std::string_view bytes) {
  // What starts with a field of ONNX's is taken for a model; other fields, as any bytes may look, prove nothing.
  bool is_model = false;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto tag = read_varint(bytes, at);
    if (!tag) return is_model && at == bytes.size() ? Outline::kCutOff : Outline::kOther;
    const std::uint64_t field = *tag >> 3;
    if (field == 0 || (is_known(field) && (*tag & 7) != wire_type_of_known(field))) return Outline::kOther;
    is_model = is_model || is_known(field);
    if (!is_model) return Outline::kOther;
    if (const Outline rest = skip(bytes, *tag & 7, at); rest != Outline::kModel) return rest;
  }
  return Outline::kModel;
}

}  // namespace collage
