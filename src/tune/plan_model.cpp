#include "tune/plan_model.h"

#include <algorithm>
#include <cstring>

#include "plan/plan_file.h"

namespace collage {

Result<PlanModel> PlanModel::load(const std::string& path, Registry& registry, int threads) {
  COLLAGE_TRY(RealisedPlan plan, load_plan(path, Checked::kWhatRuns));
  return load(std::move(plan), registry, threads);
}

Result<PlanModel> PlanModel::load(RealisedPlan plan, Registry& registry, int threads) {
  if (threads > 0 && threads != plan.plan.threads)
    return fail(
        ExitCode::kUsage, "plan/other-threads", "--threads", std::to_string(threads),
        std::to_string(plan.plan.threads) + ", for which the plan was tuned; collage tune makes one for others");
  const BackendSource source = [&registry](const std::string& name) { return registry.get(name); };
  COLLAGE_TRY(Session session, Session::load(std::move(plan), source, {.threads = threads, .machine = {}}));
  return made_of(std::move(session));
}

Result<PlanModel> PlanModel::made_of(Session session) {
  PlanModel model(std::move(session));
  if (model.session_.is_open()) return model;
  COLLAGE_TRY(model.context_, model.session_.make_context());
  return model;
}

Result<void> PlanModel::set_inputs(std::span<const Tensor> inputs) {
  const std::vector<ContextPort>& ports = session_.inputs();
  if (inputs.size() != ports.size())
    return fail(ExitCode::kBadInput, "input/wrong-count", "inputs", std::to_string(inputs.size()),
                std::to_string(ports.size()));
  if (session_.is_open()) {
    std::vector<Extents> extents;
    for (const Tensor& input : inputs) extents.push_back(input.extents);
    COLLAGE_TRY(context_, session_.make_context({.inputs = std::move(extents), .arena = {}}));
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const ContextPort& port = context_->inputs()[i];
    if (inputs[i].value_type() != port.type)
      return fail(ExitCode::kBadInput, "input/wrong-shape", "input " + port.name, to_string(inputs[i].value_type()),
                  to_string(port.type));
    std::memcpy(context_->input(i).data(), inputs[i].data.data(), port.bytes);
  }
  return {};
}

Result<std::vector<Tensor>> PlanModel::outputs() const {
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < session_.outputs().size(); ++i) {
    COLLAGE_TRY(const DynamicOutput output, context_->output_tensor(i));
    const std::size_t bytes = byte_count(output.type, output.extents);
    result.push_back({.type = output.type,
                      .extents = output.extents,
                      .data = Buffer::copy_of({static_cast<const std::byte*>(output.data), bytes}),
                      .strings = {}});
  }
  return result;
}

Result<std::vector<std::int64_t>> PlanModel::profile(int runs) {
  const std::size_t steps = session_.plan().steps.size();
  std::vector<std::vector<std::int64_t>> samples(steps);
  std::vector<std::int64_t> times(steps);
  for (int r = 0; r < runs; ++r) {
    COLLAGE_TRY_VOID(context_->run_profiled(times));
    for (std::size_t s = 0; s < steps; ++s) samples[s].push_back(times[s]);
  }
  for (std::size_t s = 0; s < steps; ++s) {
    const auto middle = samples[s].begin() + static_cast<std::ptrdiff_t>(samples[s].size() / 2);
    std::nth_element(samples[s].begin(), middle, samples[s].end());
    times[s] = *middle;
  }
  return times;
}

}  // namespace collage
