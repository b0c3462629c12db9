// A plan together with the constants and artifacts that it refers to: realise() makes it, a plan file stores it, an
// executable loads it.
#pragma once

#include <map>
#include <string>

#include "base/buffer.h"
#include "ir/tensor.h"
#include "plan/plan.h"

namespace collage {

struct RealisedPlan {
  Plan plan;
  std::map<PlanIndex, Tensor> constants;    ///< the contents of every kConstant value outside bodies
  std::map<std::string, Buffer> artifacts;  ///< by hash
  Buffer onnx;                              ///< plan.onnx, set by the caller; may be empty

  bool operator==(const RealisedPlan&) const = default;
};

/// The constants of a plan in its weights.bin, whose bytes they share. Error plan/damaged for weights of another size;
/// `label` names their file in it.
[[nodiscard]] Result<std::map<PlanIndex, Tensor>> constants_in(const Plan& plan, const Buffer& weights,
                                                               const std::string& label);

}  // namespace collage
