// Runs a plan on inputs of ones, in two threads, and prints the first number of every output.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "api/run/loaded_plan.h"

namespace {

/// A tensor of ones of the port's type; extents that the plan leaves open become 1.
collage::Tensor ones(const collage::TensorPort& port) {
  collage::Extents extents;
  for (const collage::Dim& dim : *port.type.shape) extents.push_back(dim.is_static() ? dim.extent : 1);
  const std::vector<float> values(static_cast<std::size_t>(collage::element_count(extents)), 1.0F);
  return collage::make_tensor(collage::ElementType::kFloat32, extents, values);
}

/// One caller: its own session on the shared plan.
collage::Result<void> run(const collage::LoadedPlan& plan, bool is_talkative) {
  COLLAGE_TRY(collage::Session session, plan.make_session());
  std::vector<collage::Tensor> inputs;
  for (const collage::TensorPort& port : plan.inputs()) inputs.push_back(ones(port));
  COLLAGE_TRY_VOID(session.set_inputs(inputs));
  COLLAGE_TRY_VOID(session.run());
  for (std::size_t i = 0; is_talkative && i < session.outputs().size(); ++i) {
    COLLAGE_TRY(const collage::DynamicOutput output, session.output_tensor(i));
    float first = 0;
    std::memcpy(&first, output.data, sizeof first);
    std::printf("%s %s[0] = %g\n", session.outputs()[i].name.c_str(),
                to_string(collage::ValueType::tensor(output.type, output.extents)).c_str(), first);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run_plan PLAN\n");
    return 2;
  }
  const auto plan = collage::LoadedPlan::load(argv[1]);
  if (!plan) {
    std::fprintf(stderr, "run_plan: %s\n", to_string(plan.error()).c_str());
    return static_cast<int>(plan.error().exit);
  }
  bool is_good = true;
  std::jthread other([&] { is_good = run(*plan, false).has_value(); });
  const auto done = run(*plan, true);
  other.join();
  if (!done) std::fprintf(stderr, "run_plan: %s\n", to_string(done.error()).c_str());
  return done && is_good ? 0 : 1;
}
