#include "tune/plan_model.h"

#include <algorithm>
#include <cstring>

namespace collage {

Result<PlanModel> PlanModel::load(const std::string& path, Registry& registry, int threads) {
  COLLAGE_TRY(Session session, Session::load(path, registry, {.threads = threads, .machine = {}}));
  COLLAGE_TRY(Context context, session.make_context());
  return PlanModel(std::move(session), std::move(context));
}

Result<PlanModel> PlanModel::load(RealisedPlan plan, Registry& registry, int threads) {
  const BackendSource source = [&registry](const std::string& name) { return registry.get(name); };
  COLLAGE_TRY(Session session, Session::load(std::move(plan), source, {.threads = threads, .machine = {}}));
  COLLAGE_TRY(Context context, session.make_context());
  return PlanModel(std::move(session), std::move(context));
}

Result<void> PlanModel::set_inputs(std::span<const Tensor> inputs) {
  const std::vector<ContextPort>& ports = session_.inputs();
  if (inputs.size() != ports.size())
    return fail(ExitCode::kBadInput, "input/wrong-count", "inputs", std::to_string(inputs.size()),
                std::to_string(ports.size()));
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (inputs[i].value_type() != ports[i].type)
      return fail(ExitCode::kBadInput, "input/wrong-shape", "input " + ports[i].name, to_string(inputs[i].value_type()),
                  to_string(ports[i].type));
    std::memcpy(context_.input(i).data(), inputs[i].data.data(), ports[i].bytes);
  }
  return {};
}

Result<std::vector<Tensor>> PlanModel::outputs() const {
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < session_.outputs().size(); ++i) {
    COLLAGE_TRY(const DynamicOutput output, context_.output_tensor(i));
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
    COLLAGE_TRY_VOID(context_.run_profiled(times));
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
