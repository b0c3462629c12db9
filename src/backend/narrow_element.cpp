#include "backend/narrow_element.h"

#include <cpuid.h>

#include <cstdlib>
#include <string_view>

namespace collage {
namespace {

std::optional<ElementType> element_of_processor() {
  if (__builtin_cpu_supports("avx512bf16") != 0) return ElementType::kBfloat16;
  return __builtin_cpu_supports("f16c") == 0 ? std::nullopt : std::optional(ElementType::kFloat16);
}

std::string_view named_element() {
  const char* const variable = std::getenv("COLLAGE_NARROW_ELEMENT");
  return variable == nullptr ? "" : variable;
}

}  // namespace

bool multiplies_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22 & 1U) != 0;
}

std::optional<ElementType> narrow_element(const CompileOptions& options) {
  if (options.accuracy != Accuracy::kFast) return std::nullopt;
  const std::string_view named = named_element();
  if (named == "bf16") return ElementType::kBfloat16;
  if (named == "f16") return ElementType::kFloat16;
  return named == "none" ? std::nullopt : element_of_processor();
}

std::optional<ElementType> multiplied_narrow_element(const CompileOptions& options) {
  const bool multiplies = __builtin_cpu_supports("avx512bf16") != 0;
  const std::optional<ElementType> element = narrow_element(options);
  return multiplies && element == ElementType::kBfloat16 ? element : std::nullopt;
}

bool multiplies_split_floats(const CompileOptions& options) {
  if (!multiplied_narrow_element(options)) return false;
  return multiplies_tiles() || named_element() == name_of(ElementType::kBfloat16);
}

}  // namespace collage
