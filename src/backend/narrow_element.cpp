#include "backend/narrow_element.h"

#include <cstdlib>
#include <string_view>

namespace collage {
namespace {

std::optional<ElementType> element_named(std::string_view name) {
  if (name == "bf16") return ElementType::kBfloat16;
  if (name == "f16") return ElementType::kFloat16;
  return std::nullopt;
}

}  // namespace

std::optional<ElementType> narrow_element(const CompileOptions& options) {
  if (options.accuracy != Accuracy::kFast) return std::nullopt;
  if (const char* name = std::getenv("COLLAGE_NARROW_ELEMENT")) return element_named(name);
  if (const auto multiplied = multiplied_narrow_element(options)) return multiplied;
  return __builtin_cpu_supports("f16c") == 0 ? std::nullopt : std::optional(ElementType::kFloat16);
}

std::optional<ElementType> multiplied_narrow_element(const CompileOptions& options) {
  if (options.accuracy != Accuracy::kFast || __builtin_cpu_supports("avx512bf16") == 0) return std::nullopt;
  return ElementType::kBfloat16;
}

}  // namespace collage
