#include "ir/onnx_outline.h"

#include "ir/onnx_wire.h"

namespace collage {
namespace {

/// The fields of ModelProto.
constexpr std::uint64_t kKnown = 1ULL << 1 | 1ULL << 2 | 1ULL << 3 | 1ULL << 4 | 1ULL << 5 | 1ULL << 6 | 1ULL << 7 |
                                 1ULL << 8 | 1ULL << 14 | 1ULL << 20 | 1ULL << 25 | 1ULL << 26;

bool is_known(std::uint64_t field) { return field <= 63 && (kKnown >> field & 1) != 0; }

/// ModelProto has integers and length-delimited fields only.
WireType type_of_known(std::uint64_t field) {
  return field == 1 || field == 5 ? WireType::kVarint : WireType::kDelimited;
}

}  // namespace

Outline outline_of(std::string_view bytes) {
  // What starts with a field of ONNX's is taken for a model; other fields, as any bytes may look, prove nothing.
  bool is_model = false;
  WireField field;
  for (std::size_t at = 0; at < bytes.size();) {
    const WireFault fault = read_field(bytes, at, field);
    const bool has_key = field.number != 0;
    if (has_key && is_known(field.number) && field.type != type_of_known(field.number)) return Outline::kOther;
    is_model = is_model || (has_key && is_known(field.number));
    if (!is_model || fault == WireFault::kMalformed) return Outline::kOther;
    if (fault == WireFault::kCutOff) return Outline::kCutOff;
  }
  return Outline::kModel;
}

}  // namespace collage
