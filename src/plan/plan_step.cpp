#include "plan/plan_step.h"

#include "plan/plan.h"

namespace collage {

std::string_view kind_name(const PlanStep& step) {
  return std::visit([](const auto& work) { return work.kKind; }, step.work);
}

bool needs_backend(const PlanStep& step) { return artifact_of(step) != nullptr || is_transfer(step); }

StepNodes* nodes_in(PlanStep& step) {
  return std::visit(
      [](auto& work) -> StepNodes* {
        if constexpr (requires { work.nodes; })
          return &work.nodes;
        else
          return nullptr;
      },
      step.work);
}

const StepNodes& nodes_of(const PlanStep& step) {
  static const StepNodes none;
  const StepNodes* const nodes = nodes_in(const_cast<PlanStep&>(step));  // looking changes nothing
  return nodes == nullptr ? none : *nodes;
}

const std::string& location_of(const PlanStep& step) {
  static const std::string home = kHome;
  return std::visit(
      [](const auto& work) -> const std::string& {
        if constexpr (requires { work.location; })
          return work.location;
        else
          return home;
      },
      step.work);
}

StepArtifact* artifact_of(PlanStep& step) {
  return std::visit(
      [](auto& work) -> StepArtifact* {
        if constexpr (requires { work.artifact; })
          return &work.artifact;
        else
          return nullptr;
      },
      step.work);
}

const StepArtifact* artifact_of(const PlanStep& step) {
  return artifact_of(const_cast<PlanStep&>(step));  // looking changes nothing
}

Workspace* workspace_in(PlanStep& step) {
  if (StepArtifact* const artifact = artifact_of(step)) return &artifact->workspace;
  auto* const control = std::get_if<PlanControl>(&step.work);
  return control == nullptr ? nullptr : &control->workspace;
}

Workspace workspace_of(const PlanStep& step) {
  const Workspace* const workspace = workspace_in(const_cast<PlanStep&>(step));  // looking changes nothing
  return workspace == nullptr ? Workspace() : *workspace;
}

const std::vector<PlanCheck>& checks_of(const PlanStep& step) {
  static const std::vector<PlanCheck> none;
  const auto* const kernel = std::get_if<PlanKernel>(&step.work);
  return kernel == nullptr ? none : kernel->checks;
}

const std::vector<PlanBody>& bodies_of(const PlanStep& step) {
  static const std::vector<PlanBody> none;
  const auto* const control = std::get_if<PlanControl>(&step.work);
  return control == nullptr ? none : control->bodies;
}

}  // namespace collage
