#include "export/slim_plan.h"

#include <algorithm>
#include <cstring>

#include "base/pages.h"
#include "plan/file/checksums.h"
#include "plan/realise.h"

namespace collage {
namespace {

/// Calls work(index) for what a step names of the values around it.
template <class Work>
void each_index(PlanStep& step, const Work& work) {
  const auto all = [&](std::vector<PlanIndex>& values) {
    for (PlanIndex& value : values)
      if (value != kNoValue) work(value);
  };
  all(step.inputs);
  all(step.outputs);
  if (StepArtifact* const artifact = artifact_of(step)) all(artifact->constants);
  if (auto* const kernel = std::get_if<PlanKernel>(&step.work))
    for (PlanCheck& check : kernel->checks)
      for (PlanIndex* const value : {&check.value, &check.dividend})
        if (*value != kNoValue) work(*value);
  auto* const control = std::get_if<PlanControl>(&step.work);
  if (control == nullptr) return;
  all(control->form.operands);
  all(control->form.results);
  for (PlanBody& body : control->bodies) {
    all(body.captures);
    for (PlanValue& value : body.values)
      if (value.storage == Storage::kConstant) work(value.buffer);
  }
}

/// Constants that no step reads leave the plan; the values after them move up.
void drop_unread(RealisedPlan& realised) {
  Plan& plan = realised.plan;
  const std::vector<bool> is_read = values_read(plan);
  std::vector<PlanIndex> moved(plan.values.size(), kNoValue);
  std::vector<PlanValue> values;
  std::map<PlanIndex, Tensor> constants;
  for (PlanIndex i = 0; i < plan.values.size(); ++i) {
    if (plan.values[i].storage == Storage::kConstant && !is_read[i]) continue;
    moved[i] = static_cast<PlanIndex>(values.size());
    if (auto constant = realised.constants.extract(i)) constants.emplace(moved[i], std::move(constant.mapped()));
    values.push_back(std::move(plan.values[i]));
  }
  plan.values = std::move(values);
  realised.constants = std::move(constants);
  const auto move = [&](PlanIndex& index) { index = moved[index]; };
  for (PlanStep& step : plan.steps) each_index(step, move);
  for (std::vector<PlanIndex>* const list : {&plan.inputs, &plan.outputs}) std::ranges::for_each(*list, move);
}

/// Constants move together; those that share bytes go on sharing them.
std::vector<std::byte> pack_weights(RealisedPlan& realised) {
  Plan& plan = realised.plan;
  std::vector<PlanIndex> by_offset;
  for (const auto& [index, tensor] : realised.constants) by_offset.push_back(index);
  std::ranges::stable_sort(by_offset, {}, [&](PlanIndex index) { return plan.values[index].offset; });
  std::vector<std::byte> weights;
  std::size_t old_begin = 0;
  std::size_t old_end = 0;
  std::size_t new_begin = 0;
  for (const PlanIndex index : by_offset) {
    PlanValue& value = plan.values[index];
    if (weights.empty() || value.offset >= old_end) {
      old_begin = value.offset;
      new_begin = aligned_up(weights.size());
    }
    old_end = std::max(old_end, value.offset + value.bytes);
    value.offset = new_begin + (value.offset - old_begin);
    weights.resize(std::max(weights.size(), value.offset + value.bytes));
    if (value.bytes > 0)
      std::memcpy(weights.data() + value.offset, realised.constants.at(index).data.data(), value.bytes);
  }
  weights.resize(aligned_up(weights.size()));
  plan.weights_bytes = weights.size();
  return weights;
}

/// Reasons and costs; the first node of a step stays, for messages.
void drop_reasons(PlanBody& body) {
  for (PlanValue& value : body.values) value.checksum.reset();
  for (PlanStep& step : body.steps) {
    step.variant.clear();
    step.runner_up.clear();
    step.cost_ns = step.cost_low_ns = step.cost_high_ns = 0;
    if (StepNodes* const nodes = nodes_in(step)) {
      nodes->names.resize(std::min<std::size_t>(nodes->names.size(), 1));
      nodes->repeated.clear();
      nodes->structure.clear();
    }
    if (auto* const control = std::get_if<PlanControl>(&step.work))
      for (PlanBody& inner : control->bodies) drop_reasons(inner);
  }
}

}  // namespace

SlimPlan slim_plan(const RealisedPlan& plan) {
  SlimPlan slim{.plan = plan, .weights = {}};
  slim.plan.onnx = {};
  Plan& out = slim.plan.plan;
  out.report.reset();
  out.model_path = "exported model";  // in messages
  out.machine.clear();
  drop_reasons(out);
  drop_unread(slim.plan);
  slim.weights = pack_weights(slim.plan);
  share_constants_with_bodies(out);
  return slim;
}

}  // namespace collage
