#include "plan/file/checksums.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "base/hash.h"
#include "plan/damaged.h"

namespace collage {
namespace {

constexpr const char* kUnchanged = "the bytes that tune wrote";

/// Which values of the plan steps read, what their bodies read around them included.
class Reads {
 public:
  explicit Reads(const Plan& plan) : is_read_(plan.values.size()) {
    for (const PlanStep& step : plan.steps) add(step);
  }
  [[nodiscard]] std::vector<bool> values() && { return std::move(is_read_); }

 private:
  void add(const PlanStep& step) {
    add(step.inputs);
    if (const StepArtifact* const artifact = artifact_of(step)) add(artifact->constants);
    for (const PlanCheck& check : checks_of(step)) add({check.value, check.dividend});
    if (const auto* const control = std::get_if<PlanControl>(&step.work)) add(control->form.operands);
    for (const PlanBody& body : bodies_of(step)) {
      add(body.captures);
      for (const PlanValue& value : body.values)
        if (value.storage == Storage::kConstant) is_read_[value.buffer] = true;
    }
  }
  void add(const std::vector<PlanIndex>& values) {
    for (const PlanIndex value : values)
      if (value != kNoValue) is_read_[value] = true;
  }

  std::vector<bool> is_read_;
};

}  // namespace

std::vector<bool> values_read(const Plan& plan) { return Reads(plan).values(); }

Plan with_checksums(const RealisedPlan& plan) {
  Plan checked = plan.plan;
  for (const auto& [index, tensor] : plan.constants) {
    PlanValue& value = checked.values[index];
    value.checksum.reset();
    if (tensor.data.size() == value.bytes) value.checksum = hash_bytes(tensor.data.data(), value.bytes);
  }
  return checked;
}

bool has_checksums(const Plan& plan) {
  return std::ranges::all_of(plan.values, [](const PlanValue& value) {
    return value.storage != Storage::kConstant || value.bytes == 0 || value.checksum.has_value();
  });
}

Result<void> check_constants(std::span<const RealisedPlan* const> plans, Checked checked, const std::string& path) {
  std::set<std::tuple<const std::byte*, std::size_t, std::uint64_t>> known;
  for (const RealisedPlan* plan : plans) {
    const std::vector<bool> reads = values_read(plan->plan);
    for (const auto& [index, tensor] : plan->constants) {
      const PlanValue& value = plan->plan.values[index];
      if (!value.checksum || (checked == Checked::kWhatRuns && !reads[index])) continue;
      const std::span<const std::byte> bytes = tensor.data.bytes();
      if (!known.emplace(bytes.data(), bytes.size(), *value.checksum).second) continue;
      if (hash_bytes(bytes.data(), bytes.size()) != *value.checksum)
        return damaged(path, "other bytes in constant '" + value.name + "'", kUnchanged);
    }
  }
  return {};
}

Result<void> check_artifacts(std::span<const RealisedPlan* const> plans, const std::string& path) {
  std::set<std::string_view> known;
  for (const RealisedPlan* plan : plans)
    for (const PlanArtifact& artifact : plan->plan.artifacts)
      if (known.emplace(artifact.hash).second &&
          artifact_hash(plan->artifacts.at(artifact.hash).text(), artifact.compatibility) != artifact.hash)
        return damaged(path, "other bytes in artifact " + artifact.hash, kUnchanged);
  return {};
}

}  // namespace collage
