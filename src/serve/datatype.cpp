#include "serve/datatype.h"

#include <algorithm>
#include <array>

namespace collage {
namespace {

struct NamedType {
  std::string_view name;
  ElementType type;
};

constexpr std::array<NamedType, 14> kNamedTypes = {{{"BOOL", ElementType::kBool},
                                                    {"UINT8", ElementType::kUint8},
                                                    {"UINT16", ElementType::kUint16},
                                                    {"UINT32", ElementType::kUint32},
                                                    {"UINT64", ElementType::kUint64},
                                                    {"INT8", ElementType::kInt8},
                                                    {"INT16", ElementType::kInt16},
                                                    {"INT32", ElementType::kInt32},
                                                    {"INT64", ElementType::kInt64},
                                                    {"FP16", ElementType::kFloat16},
                                                    {"BF16", ElementType::kBfloat16},
                                                    {"FP32", ElementType::kFloat32},
                                                    {"FP64", ElementType::kFloat64},
                                                    {"BYTES", ElementType::kString}}};

}  // namespace

std::string_view datatype_of(ElementType type) {
  const auto* const found = std::ranges::find(kNamedTypes, type, &NamedType::type);
  return found == kNamedTypes.end() ? std::string_view{} : found->name;
}

}  // namespace collage
