#include "region/accuracy.h"

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

}  // namespace collage
