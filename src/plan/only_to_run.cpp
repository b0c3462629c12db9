#include "plan/only_to_run.h"

#include <algorithm>
#include <map>
#include <vector>

#include "plan/memory.h"
#include "plan/realise.h"

namespace collage {
namespace {

/// By value of the plan: whether a step or a body reads it.
class ReadValues {
 public:
  explicit ReadValues(const Plan& plan) : is_read_(plan.values.size()) {
    for (const PlanStep& step : plan.steps) add(step);
  }
  [[nodiscard]] bool contains(PlanIndex value) const { return is_read_[value]; }

 private:
  void add(PlanIndex value) {
    if (value != kNoValue) is_read_[value] = true;
  }
  void add(const std::vector<PlanIndex>& values) {
    for (const PlanIndex value : values) add(value);
  }

  void add(const PlanStep& step) {
    add(step.inputs);
    if (const StepArtifact* const artifact = artifact_of(step)) add(artifact->constants);
    if (const auto* const kernel = std::get_if<PlanKernel>(&step.work))
      for (const PlanCheck& check : kernel->checks) {
        add(check.value);
        add(check.dividend);
      }
    if (const auto* const control = std::get_if<PlanControl>(&step.work)) add(*control);
  }

  /// What a body within a body reads, the outer one has among its constants.
  void add(const PlanControl& control) {
    add(control.form.operands);
    for (const PlanBody& body : control.bodies) {
      add(body.captures);
      for (const PlanValue& value : body.values)
        if (value.storage == Storage::kConstant) add(value.buffer);
    }
  }

  std::vector<bool> is_read_;
};

void empty_value(PlanValue& value, Tensor& constant) {
  value.type = ValueType::tensor(ElementType::kUint8, {0});
  value.bytes = 0;
  value.checksum.reset();
  constant = Tensor{.type = ElementType::kUint8, .extents = {0}, .data = {}, .strings = {}};
}

/// The constants that are left, one behind the other. Values that shared bytes still do.
void lay_out(RealisedPlan& plan) {
  std::map<std::size_t, std::size_t> bytes_at;  // by offset
  for (const auto& [index, tensor] : plan.constants) {
    const PlanValue& value = plan.plan.values[index];
    std::size_t& bytes = bytes_at[value.offset];
    bytes = std::max(bytes, value.bytes);
  }
  std::map<std::size_t, std::size_t> moved;
  std::size_t end = 0;
  for (const auto& [offset, bytes] : bytes_at) {
    moved.emplace(offset, end);
    end += aligned_up(bytes);
  }
  for (const auto& [index, tensor] : plan.constants) {
    PlanValue& value = plan.plan.values[index];
    value.offset = moved.at(value.offset);
  }
  plan.plan.weights_bytes = end;
  share_constants_with_bodies(plan.plan);
}

}  // namespace

RealisedPlan only_to_run(RealisedPlan plan) {
  const ReadValues read(plan.plan);
  // Before they move: an empty value has no place that another may share.
  const std::size_t nowhere = plan.plan.weights_bytes;
  for (auto& [index, tensor] : plan.constants) {
    if (read.contains(index)) continue;
    empty_value(plan.plan.values[index], tensor);
    plan.plan.values[index].offset = nowhere;
  }
  lay_out(plan);
  plan.onnx = {};
  return plan;
}

}  // namespace collage
