#include "plan/realise.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/hash.h"
#include "plan/memory.h"
#include "plan/open_values.h"
#include "plan/realise/control_step_maker.h"
#include "plan/realise/plan_draft.h"
#include "plan/realise/step_maker.h"

namespace collage {
namespace {

class Realiser {
 public:
  explicit Realiser(const RealiseRequest& request) : request_(request), graph_(*request.graph), draft_(request) {}

  /// Everything but the places of constants.
  Result<void> make() {
    COLLAGE_TRY_VOID(draft_.add_inputs());
    COLLAGE_TRY_VOID(add_steps());
    for (const ValueId id : request_.kept_constants)
      if (graph_.value(id).constant->value_type().is_static()) (void)draft_.add_constant(id);
    COLLAGE_TRY_VOID(choose_outputs());
    assign_slots();
    COLLAGE_TRY_VOID(place_outputs());
    draft_.slots().place();
    place_constant_views();
    return {};
  }

  /// Offsets in weights.bin in the order of first use, and the hash of all weights.
  void place_weights() {
    std::size_t end = 0;
    std::string hashes;
    for (const auto& [index, tensor] : draft_.out().constants) {
      if (root_of(index) != index) continue;
      values()[index].offset = end;
      end += aligned_up(tensor.data.size());
      hashes += hash_hex(tensor.data.data(), tensor.data.size());
    }
    draft_.out().plan.weights_bytes = end;
    if (draft_.out().plan.weights_hash.empty()) draft_.out().plan.weights_hash = hash_hex(hashes);
    for (const auto& [index, tensor] : draft_.out().constants)
      values()[index].offset = values()[root_of(index)].offset + draft_.blocks().offset_of(index);
    share_constants_with_bodies(draft_.out().plan);
  }

  RealisedPlan take() { return std::move(draft_.out()); }

 private:
  Result<void> add_steps() {
    StepMaker steps(draft_);
    ControlStepMaker control_steps(draft_);
    std::span<const Artifact* const> artifacts = request_.artifacts;
    if (artifacts.size() != step_count(*request_.cover))
      return bad_cover("cover", fmt::format("{} artifacts", artifacts.size()),
                       fmt::format("one for each of {} steps", step_count(*request_.cover)));
    for (const CoverStep& step : request_.cover->steps) {
      const Artifact* own = artifacts.front();
      artifacts = artifacts.subspan(1);
      if (std::holds_alternative<CoverControl>(step.work)) {
        COLLAGE_TRY_VOID(control_steps.add(step, artifacts));
      } else {
        COLLAGE_TRY_VOID(steps.add(step, own));
      }
    }
    return {};
  }

  /// Finds the plan value behind each model output and keeps it alive to the end.
  Result<void> choose_outputs() {
    for (const ValueId id : graph_.outputs) {
      const Value& value = graph_.value(id);
      if (value.constant) {
        sources_.push_back(draft_.add_constant(id));
      } else if (const auto made = draft_.find_made(id, Place{})) {
        sources_.push_back(*made);
      } else {
        return bad_cover(value.name, "no step that makes this model output in format plain", "one");
      }
      draft_.keep_until(sources_.back(), kForever);
    }
    return {};
  }

  void assign_slots() {
    std::vector<PlanIndex> own;
    for (const auto& [index, tensor] : draft_.out().constants) own.push_back(index);
    own.insert(own.end(), draft_.out().plan.inputs.begin(), draft_.out().plan.inputs.end());
    draft_.slots().assign(own);
  }

  /// The first output that fills an arena slot turns the slot into its buffer; the others are copied at the end.
  Result<void> place_outputs() {
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      const PlanIndex source = sources_[k];
      if (is_given_in_run(values()[source]) || draft_.slots().become_output(source, static_cast<std::uint32_t>(k))) {
        draft_.out().plan.outputs.push_back(source);
        continue;
      }
      COLLAGE_TRY(const PlanIndex copy, draft_.add_copy(source, Storage::kOutput, static_cast<std::uint32_t>(k)));
      draft_.slots().add(copy);
      draft_.out().plan.outputs.push_back(copy);
    }
    return {};
  }

  /// A view of a constant is a constant of another shape.
  void place_constant_views() {
    for (PlanIndex i = 0; i < values().size(); ++i) {
      if (values()[i].storage != Storage::kConstant || root_of(i) == i) continue;
      Tensor tensor = draft_.out().constants.at(root_of(i));
      tensor.extents = values()[i].type.extents();
      tensor.data = tensor.data.slice(draft_.blocks().offset_of(i), values()[i].bytes);
      draft_.out().constants.emplace(i, std::move(tensor));
    }
  }

  [[nodiscard]] PlanIndex root_of(PlanIndex constant) {
    return draft_.blocks().root_of(draft_.blocks().block_of(constant));
  }

  std::vector<PlanValue>& values() { return draft_.out().plan.values; }

  const RealiseRequest& request_;
  const Graph& graph_;
  PlanDraft draft_;
  std::vector<PlanIndex> sources_;  ///< by model output: the value it comes from
};

}  // namespace

Result<RealisedPlan> realise_body_of(const RealiseRequest& request) {
  Realiser realiser(request);
  COLLAGE_TRY_VOID(realiser.make());
  return realiser.take();
}

void share_constants_with_bodies(PlanBody& around) {
  for (PlanStep& step : around.steps) {
    auto* const control = std::get_if<PlanControl>(&step.work);
    if (control == nullptr) continue;
    for (PlanBody& body : control->bodies) {
      for (PlanValue& value : body.values)
        if (value.storage == Storage::kConstant) value.offset = around.values[value.buffer].offset;
      share_constants_with_bodies(body);
    }
  }
}

std::vector<std::size_t> cover_steps(const PlanBody& plan) {
  std::vector<std::size_t> steps;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const PlanStep& step = plan.steps[s];
    const bool is_copy =
        is_conversion(step) && step.inputs.size() == 1 && step.outputs.size() == 1 &&
        plan.values[step.inputs.front()].place.format == plan.values[step.outputs.front()].place.format;
    if (!is_copy) steps.push_back(s);
  }
  return steps;
}

Result<RealisedPlan> realise(const RealiseRequest& request) {
  Realiser realiser(request);
  COLLAGE_TRY_VOID(realiser.make());
  realiser.place_weights();
  RealisedPlan made = realiser.take();
  COLLAGE_TRY_VOID(verify(made.plan));
  return made;
}

}  // namespace collage
