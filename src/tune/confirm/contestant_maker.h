// Plans that may compete: a cover with its artifacts as a plan, if it keeps to the memory cap.
// In: covers, artifacts. Out: contestants; what the steps' memory is known to be.
// Cost: linear in the plan; weights are not copied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tune/confirm/contest.h"
#include "tune/objective.h"
#include "tune/scene.h"

namespace collage {

/// One thread.
class ContestantMaker {
 public:
  explicit ContestantMaker(const Scene& scene)
      : scene_(scene), memory_([&scene](const std::string& name) { return scene.is_engine(name); }) {}

  /// Error tune/over-memory, and those of assemble().
  [[nodiscard]] Result<Contestant> make(const std::string& name, const Graph& graph, const Cover& cover,
                                        std::vector<Artifact> artifacts, bool is_rival);

  [[nodiscard]] StepMemory& memory() { return memory_; }
  [[nodiscard]] const StepMemory& memory() const { return memory_; }
  /// Bytes of the most frugal plan that was over the cap since forget_over_cap().
  [[nodiscard]] std::optional<std::int64_t> least_over_cap() const { return least_over_cap_; }
  void forget_over_cap() { least_over_cap_.reset(); }

 private:
  const Scene& scene_;
  StepMemory memory_;
  std::optional<std::int64_t> least_over_cap_;
};

inline constexpr const char* kOverMemory = "tune/over-memory";

}  // namespace collage
