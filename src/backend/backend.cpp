#include "backend/backend.h"

namespace collage {

std::string_view name_of(Accuracy accuracy) {
  switch (accuracy) {
    case Accuracy::kStrict:
      return "strict";
    case Accuracy::kStandard:
      return "standard";
    case Accuracy::kFast:
      return "fast";
  }
  return "unknown";
}

std::optional<Accuracy> accuracy_of(std::string_view name) {
  for (const Accuracy accuracy : {Accuracy::kStrict, Accuracy::kStandard, Accuracy::kFast})
    if (name_of(accuracy) == name) return accuracy;
  return std::nullopt;
}

Result<DynamicOutput> Call::dynamic_output(std::size_t port) {
  return fail(ExitCode::kBug, "backend/no-dynamic-output", "output port " + std::to_string(port),
              "a kernel that writes bound buffers only", "ports of unknown shape");
}

}  // namespace collage
