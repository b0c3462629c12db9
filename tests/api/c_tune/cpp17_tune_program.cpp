// A program in C++17 that tunes a model and runs the plan, with no header but the installed ones.
#include "tests/api/c_tune/cpp17_tune_program.h"

#include "c_tune/collage_tune.hpp"

namespace {

collage::Expected<std::vector<float>> answer_of(const collage::Plan& plan, const std::vector<float>& in) {
  auto session = plan.make_session();
  if (!session) return collage::Unexpected(session.error());
  if (auto done = session->copy_input(0, in.data(), in.size()); !done) return collage::Unexpected(done.error());
  if (auto done = session->run(); !done) return collage::Unexpected(done.error());
  auto out = session->output<float>(0);
  if (!out) return collage::Unexpected(out.error());
  return std::vector<float>(out->values.begin(), out->values.end());
}

}  // namespace

Cpp17Tuned cpp17_tune(const std::string& model, const std::string& plan, const std::vector<float>& in) {
  Cpp17Tuned tuned;
  collage::TuneOptions options;
  options.model = model;
  options.plan = plan;
  options.budget_s = 1;
  options.backends = {"onnxruntime"};
  options.context.store = "memory:";
  options.context.cancel.emplace();
  options.estimate = [&](const char* candidate) -> std::optional<double> {
    tuned.told_candidates |= candidate[0] == '{';
    return std::nullopt;
  };
  options.context.progress = [&](const collage::TuneProgress& now) { tuned.told_progress |= !now.phase.empty(); };
  const auto failed = [&](const collage::Error& error) {
    tuned.error = error.code;
    return tuned;
  };
  const auto report = collage::tune(options);
  if (!report) return failed(report.error());
  tuned.measured_us = report->measured_us;
  collage::CheckOptions asked;
  asked.plan = plan;
  const auto verified = collage::verify(asked);
  if (!verified) return failed(verified.error());
  tuned.is_verified = verified->ok();
  const auto explained = collage::explain(asked);
  if (!explained) return failed(explained.error());
  tuned.explained = explained->text();
  const auto loaded = collage::Plan::load(plan);
  if (!loaded) return failed(loaded.error());
  const auto values = answer_of(*loaded, in);
  if (!values) return failed(values.error());
  tuned.values = *values;
  collage::ModelOptions bare;
  bare.model = model;
  const auto made = collage::plan_of_model(bare);
  if (!made) return failed(made.error());
  const auto unmeasured = answer_of(*made, in);
  if (!unmeasured) return failed(unmeasured.error());
  tuned.unmeasured = *unmeasured;
  return tuned;
}

std::string cpp17_tune_nonsense(const std::string& plan) {
  const std::string bytes = "no model";
  collage::TuneOptions options;
  options.model = collage::Model(bytes.data(), bytes.size());
  options.plan = plan;
  options.context.store = "memory:";
  const auto report = collage::tune(options);
  return report ? "" : report.error().code;
}
