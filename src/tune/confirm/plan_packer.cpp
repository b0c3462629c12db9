#include "tune/confirm/plan_packer.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/add_artifact.h"
#include "plan/memory.h"
#include "runtime/load_request.h"
#include "tune/confirm/plan_artifacts.h"

namespace collage {
namespace {

/// Puts prepared artifacts in the place of those a plan has.
class Repacking {
 public:
  explicit Repacking(RealisedPlan& plan) : plan_(plan) {}

  void replace(PlanStep& step, const PreparedArtifact& prepared) {
    StepArtifact& artifact = *artifact_of(step);
    std::vector<PlanIndex> constants;
    for (const PreparedArtifact::Constant& constant : prepared.constants) {
      const auto* as_it_is = std::get_if<std::size_t>(&constant);
      constants.push_back(as_it_is != nullptr ? artifact.constants[*as_it_is]
                                              : packed(std::get<Buffer>(constant), step, constants.size()));
    }
    artifact.constants = std::move(constants);
    const std::string compatibility = std::ranges::find(artifacts(), artifact.hash, &PlanArtifact::hash)->compatibility;
    artifact.hash = add_artifact(plan_, prepared.bytes, compatibility);
  }

 private:
  std::vector<PlanArtifact>& artifacts() { return plan_.plan.artifacts; }

  /// The plan value of prepared bytes; steps that share a kernel share them.
  PlanIndex packed(const Buffer& bytes, const PlanStep& step, std::size_t position) {
    const auto [found, is_new] = packed_.try_emplace(bytes.data(), static_cast<PlanIndex>(plan_.plan.values.size()));
    if (!is_new) return found->second;
    const Extents extents = {static_cast<std::int64_t>(bytes.size())};
    const std::vector<std::string>& nodes = nodes_of(step).names;
    plan_.plan.values.push_back(
        {.name = fmt::format("{}.packed{}", nodes.empty() ? step.variant : nodes.front(), position),
         .type = ValueType::tensor(ElementType::kUint8, extents),
         .storage = Storage::kConstant,
         .buffer = 0,
         .offset = plan_.plan.weights_bytes,
         .bytes = bytes.size()});
    plan_.plan.weights_bytes += aligned_up(bytes.size());
    plan_.constants.emplace(found->second,
                            Tensor{.type = ElementType::kUint8, .extents = extents, .data = bytes, .strings = {}});
    return found->second;
  }

  RealisedPlan& plan_;
  std::map<const void*, PlanIndex> packed_;
};

/// Kernels with constants that are not linked yet.
bool can_be_packed(const PlanStep& step) {
  const StepArtifact* const artifact = artifact_of(step);
  return artifact != nullptr && !artifact->constants.empty() && artifact->entry.empty();
}

}  // namespace

RealisedPlan PlanPacker::pack(RealisedPlan plan) {
  prepare(plan);
  Repacking repacking(plan);
  for (PlanStep& step : plan.plan.steps) {
    if (!can_be_packed(step)) continue;
    if (const Prepared& found = done_.at(key_of(plan, step))) repacking.replace(step, *found);
  }
  drop_unused_artifacts(plan);
  link_kernels(plan, registry_);
  return plan;
}

void PlanPacker::prepare(const RealisedPlan& plan) {
  std::map<std::string, std::map<std::string, LoadRequest>> kernels;  // by backend, by key
  for (const PlanStep& step : plan.plan.steps) {
    if (!can_be_packed(step)) continue;
    std::string key = key_of(plan, step);
    if (!done_.contains(key))
      kernels[step.backend].try_emplace(std::move(key), load_request(plan, step, plan.plan.threads));
  }
  for (const auto& [name, requests] : kernels) prepare(name, requests);
}

void PlanPacker::prepare(const std::string& backend, const std::map<std::string, LoadRequest>& kernels) {
  std::vector<LoadRequest> requests;
  for (const auto& [key, request] : kernels) requests.push_back(request);
  std::vector<MaybePrepared> answers(requests.size(), std::nullopt);
  if (const Result<Backend*> found = registry_.get(backend)) answers = prepare_constants(**found, requests);
  auto answer = answers.begin();
  for (const auto& [key, request] : kernels) {
    Prepared& done = done_[key];
    if (MaybePrepared made = *std::move(answer++)) done = *std::move(made);
  }
}

std::string PlanPacker::key_of(const RealisedPlan& plan, const PlanStep& step) {
  const StepArtifact& artifact = *artifact_of(step);
  std::string key = fmt::format("{}|{}|{}", step.backend, artifact.hash, plan.plan.threads);
  for (const PlanIndex constant : artifact.constants)
    key += fmt::format("|{}", static_cast<const void*>(plan.constants.at(constant).data.data()));
  return key;
}

}  // namespace collage
