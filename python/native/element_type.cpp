#include "element_type.h"

#include <array>
#include <cstring>

#include "api/c/collage.h"

namespace collage::python {
namespace {

// 'l' and 'q' have 8 bytes here, 'i' has 4.
constexpr std::array kElements = {
    ElementFacts{COLLAGE_UNDEFINED, "undefined", ""},
    ElementFacts{COLLAGE_FLOAT32, "float32", "f"},
    ElementFacts{COLLAGE_UINT8, "uint8", "Bc"},
    ElementFacts{COLLAGE_INT8, "int8", "b"},
    ElementFacts{COLLAGE_UINT16, "uint16", "H"},
    ElementFacts{COLLAGE_INT16, "int16", "h"},
    ElementFacts{COLLAGE_INT32, "int32", "i"},
    ElementFacts{COLLAGE_INT64, "int64", "lq"},
    ElementFacts{COLLAGE_STRING, "str", ""},
    ElementFacts{COLLAGE_BOOL, "bool", "?"},
    ElementFacts{COLLAGE_FLOAT16, "float16", "e"},
    ElementFacts{COLLAGE_FLOAT64, "float64", "d"},
    ElementFacts{COLLAGE_UINT32, "uint32", "I"},
    ElementFacts{COLLAGE_UINT64, "uint64", "LQ"},
    ElementFacts{COLLAGE_COMPLEX64, "complex64", "Zf"},
    ElementFacts{COLLAGE_COMPLEX128, "complex128", "Zd"},
    ElementFacts{COLLAGE_BFLOAT16, "bfloat16", ""},
    ElementFacts{COLLAGE_FLOAT8E4M3FN, "float8_e4m3fn", ""},
    ElementFacts{COLLAGE_FLOAT8E4M3FNUZ, "float8_e4m3fnuz", ""},
    ElementFacts{COLLAGE_FLOAT8E5M2, "float8_e5m2", ""},
    ElementFacts{COLLAGE_FLOAT8E5M2FNUZ, "float8_e5m2fnuz", ""},
    ElementFacts{COLLAGE_UINT4, "uint4", ""},
    ElementFacts{COLLAGE_INT4, "int4", ""},
    ElementFacts{COLLAGE_FLOAT4E2M1, "float4_e2m1fn", ""},
    ElementFacts{COLLAGE_FLOAT8E8M0, "float8_e8m0fnu", ""},
    ElementFacts{COLLAGE_UINT2, "uint2", ""},
    ElementFacts{COLLAGE_INT2, "int2", ""},
};

}  // namespace

const ElementFacts& facts_of(std::int32_t type) {
  const bool is_known = type >= 0 && static_cast<std::size_t>(type) < kElements.size();
  return kElements[is_known ? static_cast<std::size_t>(type) : 0];
}

bool has_format(const ElementFacts& facts, const char* format) {
  if (format == nullptr) format = "B";
  if (format[0] == '@' || format[0] == '=' || format[0] == '<') ++format;
  if (facts.formats[0] == 'Z') return std::strcmp(format, facts.formats) == 0;
  return format[0] != '\0' && format[1] == '\0' && std::strchr(facts.formats, format[0]) != nullptr;
}

}  // namespace collage::python
