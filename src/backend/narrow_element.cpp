#include "backend/narrow_element.h"

namespace collage {

std::optional<ElementType> narrow_element(const CompileOptions& options) {
  if (options.accuracy != Accuracy::kFast || __builtin_cpu_supports("avx512bf16") == 0) return std::nullopt;
  return ElementType::kBfloat16;
}

}  // namespace collage
