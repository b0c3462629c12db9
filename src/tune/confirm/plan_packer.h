// Prepares a plan for its file: backends transform the constants of its kernels once, so that loading only maps them,
// and link the kernels. Each backend gets all its kernels in one call of either kind. Of a model with more constants
// than a limit it gets several calls to prepare constants, and what these become lies in files of the work folder
// instead of in memory. In:  a realised plan. Out: the plan with prepared and linked artifacts, and the transformed
// constants after the
//       others.
// Cost: for each kernel with prepared constants one pass over its weights; for each plan the backends' linkers.
// Source: the UpdateConstants hook of TVM's target hooks (RFC 10).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "backend/extensions/constants_extension.h"
#include "backend/registry.h"
#include "base/work_folder.h"
#include "plan/realise.h"

namespace collage {

/// Remembers what was prepared: the plans of one tune share most kernels. One thread.
class PlanPacker {
 public:
  /// Of constants that are prepared at once.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

  /// Registry and folder outlive the packer; plans that it made may be used longer.
  PlanPacker(Registry& registry, const WorkFolder& folder, std::size_t most_bytes = kMostBytes)
      : registry_(registry), folder_(folder), most_bytes_(most_bytes) {}

  /// What a backend cannot prepare stays as it is: loading it says why. The model's own constants stay too, because
  /// plan.onnx reads them.
  [[nodiscard]] RealisedPlan pack(RealisedPlan plan);

 private:
  using Prepared = std::optional<PreparedArtifact>;
  /// Asks each backend once for all kernels of the plan that were not asked for before.
  void prepare(const RealisedPlan& plan);
  void prepare(const std::string& backend, const std::map<std::string, LoadRequest>& kernels);
  /// Moves the new constants to a file; where there is no room they stay in memory.
  void move_to_file(std::span<MaybePrepared> answers);
  static std::string key_of(const RealisedPlan& plan, const PlanStep& step);

  Registry& registry_;
  const WorkFolder& folder_;
  const std::size_t most_bytes_;
  std::map<std::string, Prepared> done_;  ///< by key_of()
  std::size_t files_ = 0;
};

}  // namespace collage
