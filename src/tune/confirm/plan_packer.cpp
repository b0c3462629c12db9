#include "tune/confirm/plan_packer.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "plan/memory.h"
#include "runtime/load_request.h"

namespace collage {
namespace {

/// Puts prepared artifacts in the place of those a plan has.
class Repacking {
 public:
  explicit Repacking(RealisedPlan& plan) : plan_(plan) {}

  void replace(PlanStep& step, const PreparedArtifact& prepared) {
    std::vector<PlanIndex> constants;
    for (const PreparedArtifact::Constant& constant : prepared.constants) {
      const auto* as_it_is = std::get_if<std::size_t>(&constant);
      constants.push_back(as_it_is != nullptr ? step.constants[*as_it_is]
                                              : packed(std::get<Buffer>(constant), step, constants.size()));
    }
    step.constants = std::move(constants);
    const std::string compatibility = std::ranges::find(artifacts(), step.artifact, &PlanArtifact::hash)->compatibility;
    step.artifact = artifact_hash(prepared.bytes, compatibility);
    if (!plan_.artifacts.emplace(step.artifact, Buffer::copy_of(std::as_bytes(std::span(prepared.bytes)))).second)
      return;
    const auto place = std::ranges::lower_bound(artifacts(), step.artifact, {}, &PlanArtifact::hash);
    artifacts().insert(place, {.hash = step.artifact, .compatibility = compatibility});
  }

  void drop_unused_artifacts() {
    std::set<std::string> used;
    list_artifacts(plan_.plan, used);
    std::erase_if(artifacts(), [&](const PlanArtifact& artifact) { return !used.contains(artifact.hash); });
    std::erase_if(plan_.artifacts, [&](const auto& entry) { return !used.contains(entry.first); });
  }

 private:
  static void list_artifacts(const PlanBody& body, std::set<std::string>& used) {
    for (const PlanStep& step : body.steps) {
      used.insert(step.artifact);
      for (const PlanBody& inner : step.bodies) list_artifacts(inner, used);
    }
  }

  std::vector<PlanArtifact>& artifacts() { return plan_.plan.artifacts; }

  /// The plan value of prepared bytes; steps that share a kernel share them.
  PlanIndex packed(const Buffer& bytes, const PlanStep& step, std::size_t position) {
    const auto [found, is_new] = packed_.try_emplace(bytes.data(), static_cast<PlanIndex>(plan_.plan.values.size()));
    if (!is_new) return found->second;
    const Extents extents = {static_cast<std::int64_t>(bytes.size())};
    plan_.plan.values.push_back(
        {.name = fmt::format("{}.packed{}", step.nodes.empty() ? step.variant : step.nodes.front(), position),
         .type = ValueType::tensor(ElementType::kUint8, extents),
         .format = plain(),
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

}  // namespace

RealisedPlan PlanPacker::pack(RealisedPlan plan) {
  Repacking repacking(plan);
  for (PlanStep& step : plan.plan.steps) {
    if (step.constants.empty()) continue;
    if (const Prepared& found = prepared(plan, step)) repacking.replace(step, *found);
  }
  repacking.drop_unused_artifacts();
  return plan;
}

const PlanPacker::Prepared& PlanPacker::prepared(const RealisedPlan& plan, const PlanStep& step) {
  std::string key = fmt::format("{}|{}|{}", step.backend, step.artifact, plan.plan.threads);
  for (const PlanIndex constant : step.constants)
    key += fmt::format("|{}", static_cast<const void*>(plan.constants.at(constant).data.data()));
  const auto [found, is_new] = done_.try_emplace(std::move(key));
  if (!is_new) return found->second;
  const Result<Backend*> backend = registry_.get(step.backend);
  if (!backend) return found->second;
  if (auto made = (*backend)->prepare_constants(load_request(plan, step, plan.plan.threads)))
    found->second = std::move(*made);
  return found->second;
}

}  // namespace collage
