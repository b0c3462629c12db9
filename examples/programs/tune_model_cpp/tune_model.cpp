// Tunes a model, prints how far it is and what was found, then runs the plan and the bare model on an input of ones.
#include <collage/collage_tune.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

int failure(const collage::Error& error) {
  std::cerr << "tune_model_cpp: " << error.message << "\n";
  return error.kind;
}

/// The first number of the first output; all shapes are fixed.
collage::Expected<float> first_number(const collage::Plan& plan) {
  auto session = plan.make_session();
  if (!session) return collage::Unexpected(session.error());
  auto input = session->input<float>(0);
  if (!input) return collage::Unexpected(input.error());
  for (float& value : *input) value = 1;
  if (auto done = session->run(); !done) return collage::Unexpected(done.error());
  auto output = session->output<float>(0);
  if (!output) return collage::Unexpected(output.error());
  return output->values[0];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: tune_model_cpp MODEL PLAN SECONDS\n";
    return COLLAGE_USAGE;
  }
  std::string phase;
  collage::TuneOptions options;
  options.model = argv[1];
  options.plan = argv[2];
  options.budget_s = std::atof(argv[3]);
  options.context.progress = [&phase](const collage::TuneProgress& now) {
    if (now.phase != phase) std::cerr << now.phase << "\n";
    phase = now.phase;
  };
  const auto report = collage::tune(options);
  if (!report) return failure(report.error());
  std::cout << report->text();

  const auto plan = collage::Plan::load(options.plan);
  if (!plan) return failure(plan.error());
  const auto tuned = first_number(*plan);
  if (!tuned) return failure(tuned.error());

  collage::ModelOptions bare;
  bare.model = argv[1];
  const auto model = collage::plan_of_model(bare);
  if (!model) return failure(model.error());
  const auto untuned = first_number(*model);
  if (!untuned) return failure(untuned.error());
  std::cout << "output[0] = " << *tuned << ", without the tune " << *untuned << "\n";
}
