#include "api/run/loaded_plan.h"

#include <algorithm>
#include <cstdint>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/run/loaded_plan_state.h"
#include "base/file.h"
#include "base/in_file.h"
#include "base/pages.h"
#include "base/suggest.h"
#include "plan/file/cases_file.h"

namespace collage {
namespace {

std::vector<TensorPort> input_ports(const PlanCases& cases) {
  std::vector<TensorPort> ports;
  for (const CaseInput& input : cases.inputs) {
    const std::size_t bytes = input.type.is_static() ? byte_count(input.type.element, input.type.extents()) : 0;
    ports.push_back({.name = input.name, .type = input.type, .bytes = bytes});
  }
  return ports;
}

/// The type that both have in common: extents that differ are open.
ValueType common_type(ValueType type, const ValueType& other) {
  if (type == other || !type.shape) return type;
  if (!other.shape || other.shape->size() != type.shape->size()) {
    type.shape = std::nullopt;
    return type;
  }
  for (std::size_t d = 0; d < type.shape->size(); ++d)
    if ((*type.shape)[d] != (*other.shape)[d]) (*type.shape)[d] = Dim{};
  return type;
}

std::vector<TensorPort> output_ports(const PlanCases& cases) {
  const Plan& first = any_plan(cases).plan;
  std::vector<TensorPort> ports;
  for (std::size_t o = 0; o < first.outputs.size(); ++o) {
    const PlanValue& value = first.values[first.outputs[o]];
    ValueType type = value.type;
    // The generic plan's open extents are those that the cases fix.
    if (!cases.generic)
      for (const PlanCase& one : cases.cases)
        type = common_type(std::move(type), one.plan.plan.values[one.plan.plan.outputs[o]].type);
    const bool is_open = !type.is_static() || value.storage == Storage::kDynamic;
    ports.push_back({.name = value.name, .type = std::move(type), .bytes = is_open ? 0 : value.bytes});
  }
  return ports;
}

Result<std::size_t> port_index(const std::vector<TensorPort>& ports, std::string_view name, const std::string& kind) {
  const auto found = std::ranges::find(ports, name, &TensorPort::name);
  if (found != ports.end()) return static_cast<std::size_t>(found - ports.begin());
  std::vector<std::string> names;
  for (const TensorPort& port : ports) names.push_back(port.name);
  return fail(ExitCode::kUsage, kind + "/unknown-name", fmt::format("{} {}", kind, name),
              fmt::format("no {} {}{}", kind, name, did_you_mean(name, names)),
              fmt::format("{}", fmt::join(names, ", ")));
}

BackendSource source_of(Registry& registry) {
  return [&registry](const std::string& instance) { return registry.get(instance); };
}

Result<PlanCases> cases_in(const std::string& path, const LoadOptions& options) {
  // A file whose signature is checked is read into memory anyhow.
  if (!options.copy_file || !options.signers.empty()) return load_cases(path, Checked::kWhatRuns, options.signers);
  COLLAGE_TRY(const Buffer file, read_file(path));
  return load_cases(file, path, Checked::kWhatRuns);
}

/// Plans in memory were read from a file, which had to be signed then, or were never in one.
Result<void> check_signer(const PlanCases& cases, const LoadOptions& options) {
  if (options.signers.empty()) return {};
  if (cases.signer && cases.signer->is_checked &&
      std::ranges::find(options.signers, cases.signer->key) != options.signers.end())
    return {};
  return fail(ExitCode::kBadInput, "signature/missing", any_plan(cases).plan.model_path, "a plan that is not signed",
              "a plan from a file with a signature of one of the keys");
}

/// The same with the file in its error; what the caller asked for wrongly is not the file's fault.
template <class T>
Result<T> named(const std::string& file, Result<T> loaded) {
  if (loaded || file.empty() || loaded.error().exit == ExitCode::kUsage) return loaded;
  return std::unexpected(in_file(file, std::move(loaded).error()));
}

Result<void> check_threads(const PlanCases& cases, const LoadOptions& options) {
  const int tuned = any_plan(cases).plan.threads;
  if (options.threads <= 0 || options.threads == tuned) return {};
  return fail(ExitCode::kUsage, "plan/other-threads", "--threads", std::to_string(options.threads),
              std::to_string(tuned) + ", for which the plan was tuned; collage tune makes one for others");
}

}  // namespace

LoadedPlan::State::State(PlanCases all, BackendSource source, LoadOptions load_options)
    : cases(std::move(all)),
      table(cases),
      reader(cases),
      backends(std::move(source)),
      options(std::move(load_options)),
      inputs(input_ports(cases)),
      outputs(output_ports(cases)),
      loaded_(cases.cases.size()) {
  for (const PlanCase& one : cases.cases) arena_bytes = std::max(arena_bytes, one.plan.plan.arena_bytes);
  if (cases.generic) arena_bytes = std::max(arena_bytes, cases.generic->plan.arena_bytes);
}

bool LoadedPlan::State::is_fixed() const {
  return cases.domain.dimensions.empty() && std::ranges::all_of(inputs, [](const TensorPort& port) {
           return port.type.is_static() || port.type.is_held();
         });
}

Result<const Executable*> LoadedPlan::State::executable(std::size_t which) {
  const std::scoped_lock lock(mutex_);
  std::optional<Executable>& found = which == CaseTable::kNone ? generic_ : loaded_[which];
  if (found) return &*found;
  const RealisedPlan& plan = which == CaseTable::kNone ? *cases.generic : cases.cases[which].plan;
  COLLAGE_TRY(found, named(file, Executable::load(plan, backends, options)));
  return &*found;
}

Result<LoadedPlan> LoadedPlan::load(const std::string& path, const LoadOptions& options) {
  COLLAGE_TRY(PlanCases cases, cases_in(path, options));
  COLLAGE_TRY(LoadedPlan plan, named(path, load_with_own_backends(std::move(cases), options)));
  plan.state_->file = path;
  return plan;
}

Result<LoadedPlan> LoadedPlan::load(Buffer file, const LoadOptions& options) {
  // Kernels read constants where they lie in the file, which puts them at multiples of this from its start.
  if (reinterpret_cast<std::uintptr_t>(file.data()) % kBufferAlignment != 0) file = Buffer::copy_of(file.bytes());
  COLLAGE_TRY(PlanCases cases, load_cases(file, "plan in memory", Checked::kWhatRuns, options.signers));
  return load_with_own_backends(std::move(cases), options);
}

Result<LoadedPlan> LoadedPlan::load_with_own_backends(PlanCases cases, const LoadOptions& options) {
  auto registry = std::make_unique<Registry>(default_module_folders());
  COLLAGE_TRY(LoadedPlan plan, load(std::move(cases), *registry, options));
  plan.state_->registry = std::move(registry);
  return plan;
}

Result<LoadedPlan> LoadedPlan::load(const std::string& path, Registry& registry, const LoadOptions& options) {
  COLLAGE_TRY(PlanCases cases, cases_in(path, options));
  COLLAGE_TRY(LoadedPlan plan, named(path, load(std::move(cases), registry, options)));
  plan.state_->file = path;
  return plan;
}

Result<LoadedPlan> LoadedPlan::load(PlanCases cases, Registry& registry, const LoadOptions& options) {
  return load(std::move(cases), source_of(registry), options);
}

Result<LoadedPlan> LoadedPlan::load(PlanCases cases, BackendSource backends, const LoadOptions& options) {
  COLLAGE_TRY_VOID(verify(cases));
  if (cases.domain.dimensions.empty() && cases.cases.size() != 1)
    return fail(ExitCode::kBadInput, "plan/damaged", "cases", std::to_string(cases.cases.size()),
                "one plan where all shapes are fixed");
  COLLAGE_TRY_VOID(check_signer(cases, options));
  COLLAGE_TRY_VOID(check_threads(cases, options));
  LoadedPlan plan(std::make_shared<State>(std::move(cases), std::move(backends), options));
  State& state = *plan.state_;
  if (state.cases.domain.dimensions.empty()) {
    COLLAGE_TRY(const Executable* const executable, state.executable(0));
    state.verdict = executable->verdict();
  } else {
    state.verdict = judge_machine(any_plan(state.cases).plan, state.backends, options.machine);
  }
  return plan;
}

const std::vector<TensorPort>& LoadedPlan::inputs() const { return state_->inputs; }
const std::vector<TensorPort>& LoadedPlan::outputs() const { return state_->outputs; }
const ShapeDomain& LoadedPlan::domain() const { return state_->cases.domain; }
bool LoadedPlan::has_open_inputs() const { return !state_->is_fixed(); }
const MachineVerdict& LoadedPlan::verdict() const { return state_->verdict; }
const PlanCases& LoadedPlan::cases() const { return state_->cases; }

int LoadedPlan::threads() const { return any_plan(state_->cases).plan.threads; }

Result<std::size_t> LoadedPlan::input_index(std::string_view name) const {
  return port_index(state_->inputs, name, "input");
}

Result<std::size_t> LoadedPlan::output_index(std::string_view name) const {
  return port_index(state_->outputs, name, "output");
}

}  // namespace collage
