#include "tune/confirm/step_effects.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "backend/held_value.h"
#include "base/json.h"
#include "base/json_reading.h"
#include "numbers/format_converter.h"
#include "numbers/output_bound.h"
#include "numbers/record.h"
#include "plan/file/plan_file.h"
#include "plan/open_values.h"
#include "runtime/executable.h"
#include "runtime/memory_block.h"

namespace collage {
namespace {

/// Between which steps a value must be kept. Model inputs and constants always are.
struct KeptBetween {
  std::size_t made = 0;
  std::size_t last_read = 0;
};

std::vector<KeptBetween> lives_of(const Plan& plan) {
  std::vector<KeptBetween> lives(plan.values.size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (const PlanIndex output : plan.steps[s].outputs) lives[output] = {.made = s, .last_read = s};
    for (const PlanIndex input : plan.steps[s].inputs) lives[input].last_read = s;
  }
  for (const PlanIndex output : plan.outputs) lives[output].last_read = plan.steps.size();
  return lives;
}

/// A plan whose values between steps can be overwritten.
class OpenedPlan {
 public:
  OpenedPlan(const StepEffectsRequest& request, Registry& registry)
      : request_(request), registry_(registry), converter_(registry), bound_(bound_in_plan(request.accuracy)) {}

  Result<void> load() {
    COLLAGE_TRY(RealisedPlan realised, load_plan(request_.plan));
    const BackendSource backends = [this](const std::string& name) { return registry_.get(name); };
    COLLAGE_TRY(Executable loaded, Executable::load(std::move(realised), backends, {.threads = request_.threads}));
    executable_ = std::make_unique<Executable>(std::move(loaded));
    if (std::ranges::any_of(plan().steps, [&](const PlanStep& step) { return reads_open_value(plan(), step); }))
      return fail(ExitCode::kUnsupported, "tune/step-effects", request_.plan, "values of open shape between steps",
                  "values that can be overwritten");
    COLLAGE_TRY(MemoryBlock arena, MemoryBlock::allocate(plan().arena_bytes, "arena"));
    arena_ = std::make_shared<const MemoryBlock>(std::move(arena));
    ExecutionOptions options{.arena = arena_};
    for (auto [ports, memory] : {std::pair(&executable_->inputs(), &options.input_memory),
                                 std::pair(&executable_->outputs(), &options.output_memory)})
      for (const TensorPort& port : *ports) {
        COLLAGE_TRY(MemoryBlock block, MemoryBlock::allocate(port.bytes, port.name));
        memory->push_back(block.data());
        blocks_.push_back(std::move(block));
      }
    outputs_ = options.output_memory;
    lives_ = lives_of(plan());
    COLLAGE_TRY_VOID(read_inputs(options.input_memory));
    COLLAGE_TRY(ExecutionContext context, executable_->make_context(options));
    context_ = std::make_unique<ExecutionContext>(std::move(context));
    return context_->run();
  }

  /// The outputs when the plan runs from `step` on.
  Result<std::vector<JudgedOutput>> outputs_from(std::size_t step, const Record& values, const Record& expected) {
    COLLAGE_TRY_VOID(overwrite(step, values));
    COLLAGE_TRY_VOID(context_->run_from(step));
    std::vector<JudgedOutput> judged;
    for (std::size_t o = 0; o < executable_->outputs().size(); ++o) {
      COLLAGE_TRY(const DynamicOutput seen, context_->output_tensor(o));
      const std::string& name = executable_->outputs()[o].name;
      COLLAGE_TRY(const Tensor wanted, expected.tensor(name));
      COLLAGE_TRY(const Tensor tensor, view_of(seen));
      judged.push_back(check_output(tensor, wanted, bound_, expected.slack(name)));
    }
    return judged;
  }

 private:
  [[nodiscard]] const Plan& plan() const { return executable_->plan(); }

  Result<void> read_inputs(const std::vector<std::byte*>& memory) {
    COLLAGE_TRY(const Record inputs, Record::open(request_.inputs));
    for (std::size_t i = 0; i < memory.size(); ++i) {
      COLLAGE_TRY(const Tensor tensor, inputs.tensor(executable_->inputs()[i].name));
      std::ranges::copy(tensor.data.bytes(), memory[i]);
    }
    return {};
  }

  /// Where a value between steps lies; null for others.
  [[nodiscard]] std::byte* address_of(const PlanValue& value) const {
    if (value.storage == Storage::kArena) return arena_->data() + value.offset;
    return value.storage == Storage::kOutput ? outputs_[value.buffer] + value.offset : nullptr;
  }

  Result<void> overwrite(std::size_t step, const Record& values) {
    for (std::size_t v = 0; v < plan().values.size(); ++v) {
      const PlanValue& value = plan().values[v];
      std::byte* const address = address_of(value);
      if (address == nullptr || lives_[v].made >= step || lives_[v].last_read < step) continue;
      COLLAGE_TRY(const Tensor tensor, values.tensor(value.name));
      COLLAGE_TRY_VOID(converter_.convert(value.type, plain(), tensor.data.bytes(), value.place.format,
                                          {address, value.bytes}, request_.threads));
    }
    return {};
  }

  const StepEffectsRequest& request_;
  Registry& registry_;
  FormatConverter converter_;
  OutputBound bound_;
  std::unique_ptr<Executable> executable_;
  std::shared_ptr<const MemoryBlock> arena_;
  std::vector<MemoryBlock> blocks_;
  std::vector<std::byte*> outputs_;
  std::vector<KeptBetween> lives_;
  std::unique_ptr<ExecutionContext> context_;
};

/// What the outputs err in `seen`, in shares of the bound. Which element errs most is chance, and largest errors do not
/// add up; mean squares do. So the mean square of each output is taken, by the share that the largest error has in
/// `whole`.
double effect_of(const std::vector<JudgedOutput>& seen, const std::vector<JudgedOutput>& whole) {
  double effect = 0;
  for (std::size_t o = 0; o < seen.size(); ++o) {
    if (!std::isfinite(seen[o].share)) return seen[o].share;
    const bool has_scale = std::isfinite(whole[o].share) && whole[o].mean_square > 0;
    effect = std::max(
        effect, has_scale ? whole[o].share * std::sqrt(seen[o].mean_square / whole[o].mean_square) : seen[o].share);
  }
  return effect;
}

}  // namespace

Result<std::vector<double>> step_effects_here(const StepEffectsRequest& request, Registry& registry) {
  COLLAGE_TRY(const Record values, Record::open(request.values));
  COLLAGE_TRY(const Record expected, Record::open(request.expected));
  OpenedPlan plan(request, registry);
  COLLAGE_TRY_VOID(plan.load());
  std::vector<double> effects;
  std::optional<std::vector<JudgedOutput>> whole;
  for (const std::uint32_t step : request.steps) {
    COLLAGE_TRY(std::vector<JudgedOutput> judged, plan.outputs_from(step, values, expected));
    if (!whole) whole = judged;
    effects.push_back(effect_of(judged, *whole));
  }
  return effects;
}

nlohmann::json to_json(const StepEffectsRequest& request) {
  return {{"type", "step-effects"},       {"plan", request.plan},     {"inputs", request.inputs},
          {"expected", request.expected}, {"values", request.values}, {"accuracy", request.accuracy},
          {"threads", request.threads},   {"steps", request.steps}};
}

Result<StepEffectsRequest> step_effects_request_from(const nlohmann::json& json) {
  return read_json("step-effects job", [&] {
    return StepEffectsRequest{.plan = json.at("plan"),
                              .inputs = json.at("inputs"),
                              .expected = json.at("expected"),
                              .values = json.at("values"),
                              .accuracy = json.at("accuracy"),
                              .threads = json.at("threads"),
                              .steps = json.at("steps")};
  });
}

}  // namespace collage
