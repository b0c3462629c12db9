#include "plan/realised_plan.h"

#include <fmt/format.h>

#include "plan/damaged.h"

namespace collage {

Result<std::map<PlanIndex, Tensor>> constants_in(const Plan& plan, const Buffer& weights, const std::string& label) {
  if (weights.size() != plan.weights_bytes)
    return damaged(label, "weights.bin of another size", fmt::format("{} bytes", plan.weights_bytes));
  std::map<PlanIndex, Tensor> constants;
  for (std::size_t i = 0; i < plan.values.size(); ++i) {
    const PlanValue& value = plan.values[i];
    if (value.storage != Storage::kConstant) continue;
    constants.emplace(static_cast<PlanIndex>(i), Tensor{.type = value.type.element,
                                                        .extents = value.type.extents(),
                                                        .data = weights.slice(value.offset, value.bytes),
                                                        .strings = {}});
  }
  return constants;
}

}  // namespace collage
