#include <map>

#include "base/hash.h"
#include "plan/memory.h"
#include "plan/plan_cases.h"
#include "plan/realise.h"

namespace collage {
namespace {

/// One weights.bin that grows by what it does not hold yet.
class SharedWeights {
 public:
  /// Where these bytes lie.
  std::size_t place(const Buffer& bytes) {
    const auto [found, is_new] = offsets_.try_emplace(hash_hex(bytes.data(), bytes.size()), bytes_);
    if (is_new) bytes_ += aligned_up(bytes.size());
    return found->second;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::map<std::string, std::size_t> offsets_;  ///< by content
  std::size_t bytes_ = 0;
};

Result<void> move_constants(RealisedPlan& plan, SharedWeights& weights, const RelocateGraph& relocate) {
  std::map<std::size_t, std::size_t> moved;
  for (const auto& [index, tensor] : plan.constants) {
    PlanValue& value = plan.plan.values[index];
    const std::size_t offset = weights.place(tensor.data);
    if (tensor.data.size() > 0) moved.emplace(value.offset, offset);
    value.offset = offset;
  }
  share_constants_with_bodies(plan.plan);
  if (plan.onnx.size() == 0) return {};
  COLLAGE_TRY(const std::string onnx, relocate(plan.onnx.text(), moved));
  plan.onnx = Buffer::copy_of(std::as_bytes(std::span(onnx)));
  return {};
}

}  // namespace

Result<void> share_weights(PlanCases& cases, const RelocateGraph& relocate) {
  SharedWeights weights;
  std::vector<RealisedPlan*> plans;
  if (cases.generic) plans.push_back(&*cases.generic);
  for (PlanCase& one : cases.cases) plans.push_back(&one.plan);
  for (RealisedPlan* plan : plans) COLLAGE_TRY_VOID(move_constants(*plan, weights, relocate));
  for (RealisedPlan* plan : plans) plan->plan.weights_bytes = weights.bytes();
  return {};
}

}  // namespace collage
