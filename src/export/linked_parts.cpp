#include "export/linked_parts.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace collage {
namespace {

/// The first step that loads an artifact.
struct FirstUse {
  const PlanStep* step = nullptr;
  std::size_t index = 0;
};

void find_uses(const PlanBody& body, std::map<std::string, FirstUse>& uses) {
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    const PlanStep& step = body.steps[i];
    if (const StepArtifact* const artifact = artifact_of(step)) uses.try_emplace(artifact->hash, FirstUse{&step, i});
    for (const PlanBody& inner : bodies_of(step)) find_uses(inner, uses);
  }
}

void rename_artifacts(PlanBody& body, const std::map<std::string, std::string>& new_hashes) {
  for (PlanStep& step : body.steps) {
    if (StepArtifact* const artifact = artifact_of(step)) artifact->hash = new_hashes.at(artifact->hash);
    if (auto* const control = std::get_if<PlanControl>(&step.work))
      for (PlanBody& inner : control->bodies) rename_artifacts(inner, new_hashes);
  }
}

Result<ExportedArtifact> exported(const RealisedPlan& plan, const PlanArtifact& artifact, const FirstUse& use,
                                  const BackendSource& backends, const std::string& prefix) {
  COLLAGE_TRY(Backend* const backend, backends(use.step->backend));
  ArtifactView view;
  view.bytes = plan.artifacts.at(artifact.hash).text();
  view.compatibility = artifact.compatibility;
  view.entry = artifact_of(*use.step)->entry;
  auto made = extension_of<ExportExtension>(*backend)->exported(view, prefix);
  if (made) return made;
  Error error = std::move(made).error();
  const std::vector<std::string>& nodes = nodes_of(*use.step).names;
  error.where = fmt::format("step {} {}{}", use.index, error.where, nodes.empty() ? "" : " (" + nodes.front() + ")");
  return std::unexpected(std::move(error));
}

}  // namespace

Result<LinkedParts> linked_parts(const RealisedPlan& plan, const BackendSource& backends) {
  LinkedParts parts{.plan = plan, .codes = {}};
  Plan& out = parts.plan.plan;
  out.artifacts.clear();
  parts.plan.artifacts.clear();
  std::map<std::string, FirstUse> uses;
  find_uses(plan.plan, uses);
  std::map<std::string, std::string> new_hashes;
  for (const PlanArtifact& artifact : plan.plan.artifacts) {
    const auto use = uses.find(artifact.hash);
    if (use == uses.end()) continue;
    COLLAGE_TRY(ExportedArtifact made,
                exported(plan, artifact, use->second, backends, fmt::format("code{}", parts.codes.size())));
    const std::string hash = artifact_hash(made.bytes, artifact.compatibility);
    new_hashes[artifact.hash] = hash;
    if (parts.plan.artifacts.emplace(hash, Buffer::copy_of(std::as_bytes(std::span(made.bytes)))).second)
      out.artifacts.push_back({.hash = hash, .compatibility = artifact.compatibility});
    for (LinkedCode& code : made.code) parts.codes.push_back(std::move(code));
  }
  std::ranges::sort(out.artifacts, {}, &PlanArtifact::hash);
  rename_artifacts(out, new_hashes);
  // A backend whose steps are all views does nothing.
  const std::set<std::string> used = backends_of(out);
  std::erase_if(out.backends, [&](const PlanBackend& backend) { return !used.contains(backend.name); });
  return parts;
}

}  // namespace collage
