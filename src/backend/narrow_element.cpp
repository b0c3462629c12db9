#include "backend/narrow_element.h"

#include <cstdlib>
#include <string_view>

namespace collage {
namespace {

std::optional<ElementType> element_of_processor() {
  if (__builtin_cpu_supports("avx512bf16") != 0) return ElementType::kBfloat16;
  return __builtin_cpu_supports("f16c") == 0 ? std::nullopt : std::optional(ElementType::kFloat16);
}

}  // namespace

std::optional<ElementType> narrow_element(const CompileOptions& options) {
  if (options.accuracy != Accuracy::kFast) return std::nullopt;
  const char* const variable = std::getenv("COLLAGE_NARROW_ELEMENT");
  const std::string_view named = variable == nullptr ? "" : variable;
  if (named == "bf16") return ElementType::kBfloat16;
  if (named == "f16") return ElementType::kFloat16;
  return named == "none" ? std::nullopt : element_of_processor();
}

std::optional<ElementType> multiplied_narrow_element(const CompileOptions& options) {
  const bool multiplies = __builtin_cpu_supports("avx512bf16") != 0;
  const std::optional<ElementType> element = narrow_element(options);
  return multiplies && element == ElementType::kBfloat16 ? element : std::nullopt;
}

}  // namespace collage
