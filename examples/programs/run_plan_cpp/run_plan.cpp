// Runs a plan on inputs of ones, in two threads, and prints the first number of every output. C++17, and any compiler:
// between the program and Collage there is only C.
#include <collage/collage.hpp>

#include <cstdio>
#include <thread>
#include <utility>

namespace {

/// The extents of all inputs; those that the plan leaves open become 1.
std::vector<collage::Extents> shapes_of(const collage::Plan& plan) {
  std::vector<collage::Extents> shapes;
  for (const collage::TensorInfo& input : plan.inputs()) {
    collage::Extents& extents = shapes.emplace_back();
    if (!input.shape) continue;
    for (const collage::Dimension& dimension : *input.shape)
      extents.push_back(dimension.extent < 0 ? 1 : dimension.extent);
  }
  return shapes;
}

/// One caller: its own session on the shared plan.
collage::Expected<void> run(const collage::Plan& plan, bool is_talkative) {
  auto session = plan.make_session();
  if (!session) return collage::Unexpected(std::move(session.error()));
  if (auto done = session->set_shapes(shapes_of(plan)); !done) return done;
  for (const collage::TensorInfo& input : plan.inputs()) {
    auto values = session->input<float>(input.name);
    if (!values) return collage::Unexpected(std::move(values.error()));
    for (float& value : *values) value = 1;
  }
  if (auto done = session->run(); !done) return done;
  for (const collage::TensorInfo& output : plan.outputs()) {
    auto found = session->output<float>(output.name);
    if (!found) return collage::Unexpected(std::move(found.error()));
    if (is_talkative && !found->values.empty()) std::printf("%s[0] = %g\n", output.name.c_str(), found->values[0]);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run_plan_cpp PLAN\n");
    return COLLAGE_USAGE;
  }
  const auto plan = collage::Plan::load(argv[1]);
  if (!plan) {
    std::fprintf(stderr, "run_plan_cpp: %s\n", plan.error().message.c_str());
    return plan.error().kind;
  }
  bool is_good = true;
  std::thread other([&] { is_good = run(*plan, false).has_value(); });
  const auto done = run(*plan, true);
  other.join();
  if (!done) std::fprintf(stderr, "run_plan_cpp: %s\n", done.error().message.c_str());
  return done && is_good ? 0 : 1;
}
