// Before a plan is written: lets backends transform the constants of its kernels once, so that loading maps them.
// In: a realised plan. Out: the same with prepared artifacts, and what they load behind the other constants.
// Cost: one pass over the weights of each kernel that has prepared constants.
// Source: the UpdateConstants hook of TVM's target hooks (RFC 10).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "backend/registry.h"
#include "plan/realise.h"

namespace collage {

/// Remembers what was prepared: the plans of one tune share most kernels. One thread.
class PlanPacker {
 public:
  explicit PlanPacker(Registry& registry) : registry_(registry) {}

  /// What a backend cannot prepare stays as it is: loading it says why. The model's own constants stay too, because
  /// plan.onnx reads them.
  [[nodiscard]] RealisedPlan pack(RealisedPlan plan);

 private:
  using Prepared = std::optional<PreparedArtifact>;
  const Prepared& prepared(const RealisedPlan& plan, const PlanStep& step);

  Registry& registry_;
  std::map<std::string, Prepared> done_;
};

}  // namespace collage
