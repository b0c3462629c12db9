// Names of the reasons, as text, JSON and the cost store spell them.
#include "region/refusal.h"

#include <array>
#include <utility>

namespace collage {
namespace {

constexpr std::array<std::pair<RefusalReason, std::string_view>, 13> kReasons = {{
    {RefusalReason::kOperator, "operator"},
    {RefusalReason::kType, "type"},
    {RefusalReason::kShape, "shape"},
    {RefusalReason::kAttribute, "attribute"},
    {RefusalReason::kFormat, "format"},
    {RefusalReason::kStructure, "structure"},
    {RefusalReason::kAccuracy, "accuracy"},
    {RefusalReason::kMissing, "missing"},
    {RefusalReason::kCompile, "compile"},
    {RefusalReason::kWrongResult, "wrong-result"},
    {RefusalReason::kCrashed, "crashed"},
    {RefusalReason::kTimeout, "timeout"},
    {RefusalReason::kResources, "resources"},
}};

}  // namespace

std::string_view name_of(RefusalReason reason) {
  for (const auto& [known, name] : kReasons)
    if (known == reason) return name;
  return "unknown";
}

std::optional<RefusalReason> refusal_reason_of(std::string_view name) {
  for (const auto& [reason, known] : kReasons)
    if (known == name) return reason;
  return std::nullopt;
}

}  // namespace collage
