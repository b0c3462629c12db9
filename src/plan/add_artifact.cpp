#include "plan/add_artifact.h"

#include <algorithm>
#include <span>
#include <utility>

namespace collage {

void add_artifact(RealisedPlan& plan, const std::string& hash, const std::string& compatibility, Buffer bytes) {
  if (!plan.artifacts.emplace(hash, std::move(bytes)).second) return;
  std::vector<PlanArtifact>& listed = plan.plan.artifacts;
  const auto place = std::ranges::lower_bound(listed, hash, {}, &PlanArtifact::hash);
  listed.insert(place, {.hash = hash, .compatibility = compatibility});
}

std::string add_artifact(RealisedPlan& plan, std::string_view bytes, const std::string& compatibility) {
  std::string hash = artifact_hash(bytes, compatibility);
  if (!plan.artifacts.contains(hash))
    add_artifact(plan, hash, compatibility, Buffer::copy_of(std::as_bytes(std::span(bytes))));
  return hash;
}

}  // namespace collage
