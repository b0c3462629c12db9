#include "tune/price/making.h"

#include "region/cover.h"

namespace collage {

Making making_of(Registry& registry, const std::string& backend) {
  if (backend == kControlBackend) return Making::kQuick;
  const auto found = registry.get(backend);
  if (!found || (*found)->info().is_engine) return Making::kEngine;
  return (*found)->info().is_compiler ? Making::kCompiler : Making::kQuick;
}

}  // namespace collage
