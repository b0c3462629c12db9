#include "plan/explain/step_work.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace collage {
namespace {

constexpr double kNanosecondsPerMicrosecond = 1000;

double bytes_of(const Plan& plan, const std::vector<PlanIndex>& values) {
  double bytes = 0;
  for (const PlanIndex value : values) bytes += static_cast<double>(plan.values[value].bytes);
  return bytes;
}

/// A view moves nothing.
StepWork bytes_in(const Plan& plan, const PlanStep& step) {
  StepWork work;
  if (is_view(step)) return work;
  if (const StepArtifact* const artifact = artifact_of(step)) work.weight_bytes = bytes_of(plan, artifact->constants);
  work.bytes = bytes_of(plan, step.inputs) + bytes_of(plan, step.outputs) + work.weight_bytes;
  return work;
}

}  // namespace

std::vector<StepWork> work_of_steps(const Plan& plan, const Explanation& explanation) {
  std::unordered_map<std::string_view, Operations> flops_of;
  for (const ExplainedNode& node : explanation.nodes) flops_of.emplace(node.name, node.flops);
  std::vector<StepWork> works;
  for (const PlanStep& step : plan.steps) {
    StepWork& work = works.emplace_back(bytes_in(plan, step));
    for (const std::string& node : nodes_of(step).names)
      if (const auto found = flops_of.find(node); found != flops_of.end())
        work.flops += static_cast<double>(found->second);
    if (explanation.peak)
      work.roofline_us =
          std::max(work.flops / explanation.peak->flops_per_ns, work.bytes / explanation.peak->cache_bytes_per_ns) /
          kNanosecondsPerMicrosecond;
  }
  return works;
}

}  // namespace collage
