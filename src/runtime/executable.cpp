#include "runtime/executable.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "backend/extensions/device_extension.h"
#include "backend/extensions/operator_library.h"
#include "backend/extensions/portability_extension.h"
#include "base/float_mode.h"
#include "runtime/executable_state.h"

namespace collage {
namespace {

/// What backends say about loading a plan's kernels here (PortabilityExtension::judge), each with the steps concerned.
struct CompatibilityReport {
  std::map<std::string, std::vector<std::string>> notices;
  std::map<std::string, std::vector<std::string>> refusals;
  std::size_t steps = 0;  ///< with a kernel

  void collect(const Plan& plan, const PlanBody& body, const BackendSource& backends) {
    for (const PlanStep& step : body.steps) {
      for (const PlanBody& inner : bodies_of(step)) collect(plan, inner, backends);
      const StepArtifact* const loaded = artifact_of(step);
      if (loaded == nullptr) continue;
      const auto artifact = std::ranges::find(plan.artifacts, loaded->hash, &PlanArtifact::hash);
      const Result<Backend*> backend = backends(step.backend);
      if (!backend || artifact == plan.artifacts.end()) continue;
      ++steps;
      const std::vector<std::string>& nodes = nodes_of(step).names;
      const std::string name = nodes.empty() ? step.variant : nodes.front();
      if (const auto notice = judge_artifact(**backend, artifact->compatibility); !notice)
        refusals[fmt::format("{}: {}; allowed {}", step.backend, notice.error().saw, notice.error().allowed)].push_back(
            name);
      else if (!notice->empty())
        notices[step.backend + ": " + *notice].push_back(name);
    }
  }
};

std::vector<TensorPort> tensor_ports(const Plan& plan, const std::vector<PlanIndex>& values) {
  std::vector<TensorPort> ports;
  for (const PlanIndex index : values) {
    const PlanValue& value = plan.values[index];
    ports.push_back({value.name, value.type, value.storage == Storage::kDynamic ? 0 : value.bytes});
  }
  return ports;
}

/// The devices of the plan's arenas, from the backends that run there.
Result<std::map<std::string, Device*>> find_devices(const Plan& plan, const BackendSource& backends) {
  std::map<std::string, Device*> devices;
  for (const PlanStep& step : plan.steps) {
    if (!needs_backend(step)) continue;
    COLLAGE_TRY(Backend* const backend, backends(step.backend));
    if (Device* const device = device_of(*backend)) devices.emplace(backend->info().location, device);
  }
  for (const auto& [location, bytes] : plan.device_arena_bytes)
    if (!devices.contains(location))
      return fail(ExitCode::kUnsupported, "plan/missing-device", plan.model_path, "values at " + location,
                  "a device that one of the plan's backends has here");
  std::erase_if(devices, [&](const auto& entry) { return !plan.device_arena_bytes.contains(entry.first); });
  return devices;
}

/// The first backend of the plan's steps whose kernels compute on threads of their own; "" when there is none.
Result<std::string> backend_without_pool(const Plan& plan, const BackendSource& backends) {
  for (const std::string& name : backends_of(plan)) {
    COLLAGE_TRY(Backend* const backend, backends(name));
    if (!backend->info().takes_pool) return name;
  }
  return std::string();
}

/// Everything a plan in memory must have beside a sound Plan; a plan file has it by construction.
Result<void> check_parts(const RealisedPlan& realised) {
  COLLAGE_TRY_VOID(verify(realised.plan));
  for (std::size_t i = 0; i < realised.plan.values.size(); ++i) {
    const PlanValue& value = realised.plan.values[i];
    if (value.storage != Storage::kConstant) continue;
    const auto found = realised.constants.find(static_cast<PlanIndex>(i));
    if (found == realised.constants.end() || found->second.data.size() < value.bytes)
      return fail(ExitCode::kBadInput, "plan/damaged", value.name, "no contents", "the contents of every constant");
  }
  for (const PlanArtifact& artifact : realised.plan.artifacts)
    if (const auto found = realised.artifacts.find(artifact.hash);
        found == realised.artifacts.end() ||
        artifact_hash(found->second.text(), artifact.compatibility) != artifact.hash)
      return fail(ExitCode::kBadInput, "plan/damaged", "artifact " + artifact.hash,
                  found == realised.artifacts.end() ? "nothing" : "other contents", "the contents of that hash");
  return {};
}

}  // namespace

MachineVerdict judge_machine(const Plan& plan, const BackendSource& backends, const std::string& machine) {
  MachineVerdict verdict;
  const auto worsen = [&](MachineVerdict::Kind kind, std::string reason) {
    verdict.kind = std::max(verdict.kind, kind);
    verdict.reasons.push_back(std::move(reason));
  };
  std::set<std::string> known;
  for (const PlanBackend& wanted : plan.backends) {
    known.insert(wanted.name);
    const Result<Backend*> backend = backends(wanted.name);
    if (!backend) {
      worsen(MachineVerdict::Kind::kRefused, to_string(backend.error()));
    } else if (const BackendInfo& info = (*backend)->info(); !info.unusable.empty()) {
      worsen(MachineVerdict::Kind::kRefused, fmt::format("backend {} is not usable: {}", wanted.name, info.unusable));
    } else if (own_build(info.build) != own_build(wanted.build)) {
      worsen(MachineVerdict::Kind::kUsable,
             fmt::format("steps of {} were tuned with {} (build {}), here is {} (build {})", wanted.name,
                         wanted.version, wanted.build, info.version, info.build));
    }
  }
  for (const std::string& name : backends_of(plan)) {
    if (known.contains(name)) continue;
    if (const Result<Backend*> backend = backends(name); !backend)
      worsen(MachineVerdict::Kind::kRefused, to_string(backend.error()));
  }
  CompatibilityReport report;
  if (verdict.kind != MachineVerdict::Kind::kRefused) report.collect(plan, plan, backends);
  for (const auto& [notice, steps] : report.notices)
    worsen(MachineVerdict::Kind::kUsable, fmt::format("{} in {} of {} steps", notice, steps.size(), report.steps));
  for (const auto& [refusal, steps] : report.refusals)
    worsen(MachineVerdict::Kind::kRefused, fmt::format("{} (steps {})", refusal, fmt::join(steps, ", ")));
  if (!machine.empty() && !plan.machine.empty() && machine != plan.machine)
    worsen(MachineVerdict::Kind::kUsable,
           fmt::format("every step was timed on machine {}, this one is {}", plan.machine, machine));
  return verdict;
}

Result<Executable> Executable::load(RealisedPlan realised, const BackendSource& backends, const LoadOptions& options) {
  COLLAGE_TRY_VOID(check_parts(realised));
  const DefaultFloatMode
      mode;  // numbers of artifacts are read, and weights packed, as they were when they were checked
  auto state = std::make_shared<State>();
  state->plan = std::move(realised);
  const Plan& plan = state->plan.plan;
  state->verdict = judge_machine(plan, backends, options.machine);
  if (state->verdict.kind == MachineVerdict::Kind::kRefused)
    return fail(ExitCode::kUnsupported, "plan/missing-backend", plan.model_path,
                fmt::format("{}", fmt::join(state->verdict.reasons, "; ")), "the backends the plan was made with");
  COLLAGE_TRY(state->devices, find_devices(plan, backends));
  state->threads = options.threads > 0 ? options.threads : plan.threads;
  COLLAGE_TRY(state->own_threads, backend_without_pool(plan, backends));
  KernelLoader loader(state->plan, backends, state->threads);
  COLLAGE_TRY(state->model, loader.load_model());
  state->kernels = loader.take_kernels();
  state->inputs = tensor_ports(plan, plan.inputs);
  state->outputs = tensor_ports(plan, plan.outputs);
  return Executable(std::move(state));
}

const Plan& Executable::plan() const { return state_->plan.plan; }
const MachineVerdict& Executable::verdict() const { return state_->verdict; }
const std::vector<TensorPort>& Executable::inputs() const { return state_->inputs; }
const std::vector<TensorPort>& Executable::outputs() const { return state_->outputs; }
bool Executable::is_open() const {
  return std::ranges::any_of(state_->inputs,
                             [](const TensorPort& port) { return !port.type.is_static() && !port.type.is_held(); });
}

}  // namespace collage
