// The worker's side of a recheck: numbers, then times.
#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "api/run/loaded_plan.h"
#include "api/tune/gather_inputs.h"
#include "api/tune/recheck.h"
#include "api/tune/source_model.h"
#include "api/tune/verify.h"
#include "backend/roles.h"
#include "measure/record_job.h"
#include "measure/sample_trials.h"
#include "numbers/graph_file.h"
#include "numbers/output_bound.h"
#include "plan/file/plan_file.h"
#include "plan/plan_cases.h"
#include "region/weight_bytes.h"
#include "runtime/load_request.h"
#include "sandbox/import_job.h"
#include "timing/displacer.h"

namespace collage {
namespace {

/// Steps that make up this share of the plan's cost are its main ones; no more than so many.
constexpr double kMainShare = 0.8;
constexpr std::size_t kMostSteps = 16;
constexpr std::size_t kRounds = 3;

/// By cost, those with an artifact only.
std::vector<std::size_t> main_steps(const Plan& plan) {
  std::vector<std::size_t> steps;
  std::int64_t total = 0;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const PlanStep& step = plan.steps[s];
    if (artifact_of(step) == nullptr || step.cost_ns <= 0) continue;
    steps.push_back(s);
    total += step.cost_ns;
  }
  std::ranges::stable_sort(steps, std::ranges::greater{}, [&](std::size_t s) { return plan.steps[s].cost_ns; });
  std::int64_t covered = 0;
  std::size_t count = 0;
  while (count < std::min(steps.size(), kMostSteps) &&
         static_cast<double>(covered) < kMainShare * static_cast<double>(total))
    covered += plan.steps[steps[count++]].cost_ns;
  steps.resize(count);
  return steps;
}

/// Of a step that converts.
Conversion conversion_of(const Plan& plan, const PlanStep& step) {
  const PlanValue& from = plan.values[step.inputs.front()];
  return {.type = from.type, .from = from.place, .to = plan.values[step.outputs.front()].place};
}

std::string name_of_step(const Plan& plan, std::size_t index) {
  const PlanStep& step = plan.steps[index];
  const std::vector<std::string>& nodes = nodes_of(step).names;
  const std::string where = nodes.empty() ? "" : " at " + nodes.front();
  return fmt::format("step {}, {}/{}{}", index, step.backend, step.variant, where);
}

/// What is timed: a step's trial, or the whole plan.
struct Timed {
  std::size_t part = 0;  ///< of the report
  std::optional<Trial> trial;
};

class RecheckRun {
 public:
  RecheckRun(const Json& job, JobContext& context) : job_(job), context_(context), bench_(context.registry()) {}

  Result<Json> run() {
    context_.begin("load", -1);
    COLLAGE_TRY(signers_, signers_of_job());
    COLLAGE_TRY(plan_, load_plan(job_.at("plan").get<std::string>(), Checked::kEverything, signers_));
    auto session = ready();
    if (!session) {
      report_.failure = to_string(session.error());
      return answer();
    }
    session_.emplace(std::move(*session));
    context_.begin("verify", -1);
    check_numbers();
    context_.begin("record", -1);
    if (auto ready = record(); !ready) report_.notes.push_back("steps are not timed: " + to_string(ready.error()));
    time_all();
    return answer();
  }

 private:
  struct Report {
    std::string failure;
    Numbers numbers = Numbers::kNotChecked;
    std::vector<RecheckedPart> parts;
    std::vector<std::string> notes;
  };

  [[nodiscard]] std::uint64_t seed() const { return job_.at("seed").get<std::uint64_t>(); }
  /// The worker reads the file anew: whoever has to have signed it is part of the job.
  [[nodiscard]] Result<Signers> signers_of_job() const {
    Signers all;
    for (const Json& pem : job_.value("signers", Json::array())) {
      COLLAGE_TRY(const Signers keys, public_keys_in(pem.get<std::string>(), "signers"));
      all.insert(all.end(), keys.begin(), keys.end());
    }
    return all;
  }
  [[nodiscard]] const Plan& plan() const { return plan_.plan; }
  [[nodiscard]] std::string file(const std::string& name) const {
    return job_.at("folder").get<std::string>() + "/" + name;
  }

  [[nodiscard]] Result<Session> ready() const {
    COLLAGE_TRY(const LoadedPlan loaded, LoadedPlan::load(single_case(plan_), context_.registry()));
    return loaded.make_session();
  }

  void check_numbers() {
    VerifyOptions options{
        .plan = job_.at("plan").get<std::string>(), .model = std::nullopt, .seed = seed(), .input_ranges = {}};
    options.signers = signers_;
    if (job_.contains("model")) options.model = job_.at("model").get<std::string>();
    options.reader = {.worker = job_.at("reader").get<std::vector<std::string>>(),
                      .limits = import_limits_from(job_.at("limits"))};
    const auto checked = verify_plan(options, context_.registry());
    if (!checked) {
      report_.notes.push_back("numbers are not checked: " + to_string(checked.error()));
      return;
    }
    report_.numbers = checked->ok ? Numbers::kEqual : Numbers::kDifferent;
    for (const OutputCheck& output : checked->outputs)
      if (!output.ok) report_.notes.push_back("output " + output.name + ": " + output.detail);
    for (const std::string& note : checked->notes) report_.notes.push_back(note);
  }

  /// Runs the reference on the plan's graph and keeps every value.
  Result<void> record() {
    COLLAGE_TRY(const Graph graph, plan_onnx_graph(plan_));
    COLLAGE_TRY_VOID(write_graph_file(file("graph.onnx"), graph));
    COLLAGE_TRY(inputs_, gather_inputs(graph, {.files = {}, .ranges = {}, .seed = seed()}));
    COLLAGE_TRY(RecordWriter writer, RecordWriter::create(file("inputs")));
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      COLLAGE_TRY_VOID(writer.add(graph.value(graph.inputs[i]).name, inputs_[i]));
    COLLAGE_TRY_VOID(writer.finish());
    COLLAGE_TRY_VOID(run_record_job({.graph_file = file("graph.onnx"),
                                     .inputs_file = file("inputs"),
                                     .record_file = file("record"),
                                     .backend = kReferenceEngine,
                                     .all_values = true,
                                     .model_file = std::nullopt,
                                     .slacks = true},
                                    bench_, context_));
    COLLAGE_TRY(graph_, bench_.graph(file("graph.onnx")));
    COLLAGE_TRY(record_, bench_.record(file("record")));
    displaced_ = displaced_bytes(weight_bytes(graph_->graph), cache_sizes());
    return {};
  }

  Result<TrialPort> trial_port(Port port) const {
    COLLAGE_TRY(Tensor tensor, record_->tensor(port.name));
    const double slack = record_->slack(port.name);
    return TrialPort{.port = std::move(port), .recorded = std::move(tensor), .slack = slack};
  }

  /// A step of the plan, loaded from the plan's artifact.
  Result<Trial> trial_of(const PlanStep& step) {
    COLLAGE_TRY(Backend * backend, context_.registry().get(step.backend));
    LoadRequest request = load_request(plan_, step, plan().threads);
    TrialSpec spec{.backend = backend,
                   .artifact = request.artifact,
                   .constants = std::move(request.constants),
                   .inputs = {},
                   .outputs = {},
                   .threads = plan().threads,
                   .accuracy = bound_in_plan(plan().accuracy).accuracy,
                   .exact = is_conversion(step) && conversion_of(plan(), step).keeps_elements()};
    for (auto [ports, trial_ports] : {std::pair(&request.inputs, &spec.inputs), {&request.outputs, &spec.outputs}})
      for (Port& port : *ports) {
        COLLAGE_TRY(TrialPort made, trial_port(std::move(port)));
        trial_ports->push_back(std::move(made));
      }
    auto trial = Trial::create(std::move(spec), bench_.converter());
    if (!trial) return refused(trial.error().refusal);
    if (auto failed = trial->check(bench_.converter())) return refused(failed->refusal);
    return std::move(*trial);
  }

  static std::unexpected<Error> refused(const Refusal& refusal) {
    return fail(ExitCode::kUnsupported, "recheck/step-failed", std::string(name_of(refusal.reason)), refusal.detail);
  }

  void add_whole_plan() {
    RecheckedPart whole;
    whole.what = "the whole plan";
    if (plan().report) whole.then_ns = static_cast<std::int64_t>(plan().report->search.measured_us * 1000);
    report_.parts.push_back(std::move(whole));
    timed_.push_back({.part = 0, .trial = std::nullopt});
  }

  void add_step(std::size_t index) {
    const PlanStep& step = plan().steps[index];
    RecheckedPart part;
    part.what = name_of_step(plan(), index);
    part.step = index;
    part.backend = step.backend;
    part.variant = step.variant;
    part.then_ns = step.cost_ns;
    context_.begin("load", static_cast<std::int32_t>(index));
    auto trial = trial_of(step);
    // Some values no engine gives.
    if (!trial && trial.error().code == "record/no-such-value") return;
    if (trial)
      timed_.push_back({.part = report_.parts.size(), .trial = std::move(*trial)});
    else
      part.failure = to_string(trial.error());
    report_.parts.push_back(std::move(part));
  }

  void time_all() {
    if (inputs_.empty() || !session_->set_inputs(inputs_) || !session_->run()) return;
    add_whole_plan();
    if (record_ != nullptr)
      for (const std::size_t step : main_steps(plan())) add_step(step);
    SamplingOptions options = quick_sampling();
    options.min_samples = options.few_samples = kRounds;
    options.min_total_ns = 0;
    options.drop_rounds = kRounds;  // no contender is dropped: all run all rounds
    options.seed = seed();
    const TrialSampling sampling{
        .run = [this](std::size_t k) { return timed_[k].trial ? timed_[k].trial->run() : session_->run(); },
        .trial_of = [this](std::size_t k) { return timed_[k].trial ? &*timed_[k].trial : nullptr; },
        .time_queued = [this](std::size_t k, std::int64_t runs) { return timed_[k].trial->time_queued(runs); },
        .before = [this](std::size_t k) { context_.mark(static_cast<std::int32_t>(k)); },
        .displaced_bytes = displaced_,
        .threads = plan().threads};
    context_.begin("sample", -1);
    const auto results = sample_trials(timed_.size(), sampling, bench_, options);
    for (std::size_t k = 0; k < timed_.size(); ++k) {
      RecheckedPart& part = report_.parts[timed_[k].part];
      if (results[k])
        part.now_ns = results[k]->summary.median_ns;
      else
        part.failure = to_string(results[k].error());
    }
    context_.mark(-1);
  }

  Json answer() const {
    Json parts = Json::array();
    for (const RecheckedPart& part : report_.parts)
      parts.push_back({{"what", part.what},
                       {"step", part.step ? Json(*part.step) : Json(nullptr)},
                       {"backend", part.backend},
                       {"variant", part.variant},
                       {"then_ns", part.then_ns},
                       {"now_ns", part.now_ns},
                       {"failure", part.failure}});
    return {{"failure", report_.failure},
            {"numbers", static_cast<int>(report_.numbers)},
            {"parts", parts},
            {"notes", report_.notes}};
  }

  const Json& job_;
  JobContext& context_;
  Workbench bench_;
  Signers signers_;
  RealisedPlan plan_;
  std::optional<Session> session_;
  std::vector<Tensor> inputs_;
  const Workbench::LoadedGraph* graph_ = nullptr;
  const Record* record_ = nullptr;
  std::int64_t displaced_ = 0;
  std::vector<Timed> timed_;
  Report report_;
};

}  // namespace

Handler recheck_handler() {
  return {.type = "recheck",
          .run = [](const Json& job, JobContext& context) { return RecheckRun(job, context).run(); }};
}

}  // namespace collage
