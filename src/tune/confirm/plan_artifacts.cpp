#include "tune/confirm/plan_artifacts.h"

#include <map>
#include <set>
#include <vector>

#include "backend/extensions/link_extension.h"
#include "plan/add_artifact.h"
#include "runtime/load_request.h"

namespace collage {
namespace {

void list_artifacts(const PlanBody& body, std::set<std::string>& used) {
  for (const PlanStep& step : body.steps) {
    if (const StepArtifact* const artifact = artifact_of(step)) used.insert(artifact->hash);
    for (const PlanBody& inner : bodies_of(step)) list_artifacts(inner, used);
  }
}

/// The kernels of one backend in a plan.
struct BackendKernels {
  std::vector<StepArtifact*> artifacts;
  std::vector<LoadRequest> requests;  ///< one for each artifact
};

class KernelList {
 public:
  explicit KernelList(RealisedPlan& plan) : plan_(plan) { add(plan.plan, plan.constants); }

  std::map<std::string, BackendKernels> by_backend = {};

 private:
  void add(PlanBody& body, const std::map<PlanIndex, Tensor>& constants) {
    for (PlanStep& step : body.steps) {
      if (auto* const control = std::get_if<PlanControl>(&step.work))
        for (PlanBody& inner : control->bodies) add(inner, body_constants(inner, constants));
      StepArtifact* const artifact = artifact_of(step);
      if (artifact == nullptr || !artifact->entry.empty()) continue;
      BackendKernels& kernels = by_backend[step.backend];
      kernels.artifacts.push_back(artifact);
      kernels.requests.push_back(load_request(plan_, body, constants, step, plan_.plan.threads));
    }
  }

  RealisedPlan& plan_;
};

}  // namespace

void drop_unused_artifacts(RealisedPlan& plan) {
  std::set<std::string> used;
  list_artifacts(plan.plan, used);
  std::erase_if(plan.plan.artifacts, [&](const PlanArtifact& artifact) { return !used.contains(artifact.hash); });
  std::erase_if(plan.artifacts, [&](const auto& entry) { return !used.contains(entry.first); });
}

void link_kernels(RealisedPlan& plan, Registry& registry) {
  KernelList list(plan);
  for (auto& [name, kernels] : list.by_backend) {
    const Result<Backend*> backend = registry.get(name);
    auto* const linker = backend ? extension_of<LinkExtension>(**backend) : nullptr;
    if (linker == nullptr) continue;
    const Result<LinkedKernels> linked = linker->link(kernels.requests);
    if (!linked) continue;
    std::vector<std::string> hashes;
    for (const LinkedArtifact& artifact : linked->artifacts)
      hashes.push_back(add_artifact(plan, artifact.bytes, artifact.compatibility));
    for (std::size_t i = 0; i < kernels.artifacts.size(); ++i) {
      const std::optional<EntryPoint>& entry = linked->entries[i];
      if (!entry) continue;
      kernels.artifacts[i]->hash = hashes[entry->artifact];
      kernels.artifacts[i]->entry = entry->name;
    }
  }
  drop_unused_artifacts(plan);
}

}  // namespace collage
