#include "tune/replay.h"

#include <algorithm>
#include <filesystem>

#include "plan/file/plan_file.h"
#include "store/artifact_file.h"
#include "timing/machine.h"
#include "tune/confirm/assemble.h"
#include "tune/confirm/plan_packer.h"
#include "tune/confirm/whole_model.h"
#include "tune/jobs.h"
#include "tune/plan_decisions.h"
#include "tune/plan_settings.h"
#include "tune/price/bodies.h"
#include "tune/price/pricing.h"
#include "tune/proposers.h"
#include "tune/stages.h"

namespace collage {
namespace {

constexpr const char* kCover = "cover";

/// Makes the plan again, from prepared graph to file.
class Replayer {
 public:
  Replayer(const Plan& plan, const TuneOptions& options, Registry& registry, const WorkFolder& folder, Store& store)
      : plan_(plan), options_(options), registry_(registry), folder_(folder), store_(store) {}

  Result<TuneReport> run() {
    for (const std::string& name : options_.backends) COLLAGE_TRY_VOID(registry_.get(name));
    COLLAGE_TRY(prepared_,
                prepare(prepare_options(options_, options_.backends, options_.progress), folder_, registry_, worker_));
    if (options_.progress) options_.progress({.phase = "replay", .note = {}});
    COLLAGE_TRY(RealisedPlan plan, plan_.shipped == kCover ? from_cover() : from_engine());
    plan.plan.report = plan_.report;
    plan = packer_.pack(std::move(plan));
    COLLAGE_TRY_VOID(check_numbers(plan));
    COLLAGE_TRY_VOID(save_plan(plan, options_.output));
    return report_on(plan.plan);
  }

 private:
  Result<RealisedPlan> from_cover() {
    const CompileOptions compile = options_.compile();
    const VariantSource variants = [&](const Graph& graph, const std::string& name,
                                       const Region& region) -> Result<std::vector<Candidate>> {
      if (std::ranges::find(options_.backends, name) == options_.backends.end()) return std::vector<Candidate>();
      COLLAGE_TRY(const Backend* backend, registry_.get(name));
      return offers_of(*backend, graph, region, compile);
    };
    COLLAGE_TRY(const Cover cover, cover_from_plan(plan_, prepared_.graph, variants));
    Pricing pricing(pricing_options(), prepared_.graph, registry_, store_);
    BodyPlacer placer({.proposing = {}, .backends = {}, .rules = {}, .user_rules = {}, .pricing = pricing_options()},
                      {registry_, store_, worker_, folder_});
    COLLAGE_TRY(std::vector<Artifact> artifacts,
                placer.artifacts(prepared_.graph, cover, pricing,
                                 {.stop = options_.stop, .portable_until = Clock::time_point::max()}));
    return realised(prepared_.graph, cover, std::move(artifacts));
  }

  /// A plan of one engine, on the user's file or on the simplified graph.
  Result<RealisedPlan> from_engine() {
    if (plan_.steps.empty())
      return fail(ExitCode::kBadInput, "plan/other-graph", plan_.model_path, "no step", "a plan with steps");
    const PlanStep& step = plan_.steps.front();
    const bool is_original = plan_.shipped == step.backend;
    const Graph& graph = is_original ? prepared_.imported.graph : prepared_.graph;
    Cover cover = whole_cover(graph, step.backend);
    const Region& region = *chosen_region(cover.steps.front());
    if (structure_key(graph, region) != nodes_of(step).structure)
      return fail(ExitCode::kBadInput, "plan/other-graph", plan_.model_path + ": step 0 (" + step.backend + ")",
                  "a graph with other operators, attributes, types or shapes", "the graph that the plan was made for");
    cover.steps.front().cost =
        Measured{.median_ns = step.cost_ns, .low_ns = step.cost_low_ns, .high_ns = step.cost_high_ns};
    COLLAGE_TRY(const std::string hash,
                compile_model(worker_, {.graph = is_original ? prepared_.imported_file : prepared_.graph_file,
                                        .model = is_original ? prepared_.original_file : "",
                                        .engine = step.backend,
                                        .folder = store_.artifact_folder(),
                                        .threads = options_.threads}));
    COLLAGE_TRY(Artifact artifact, read_artifact(store_.artifact_folder(), hash, region.constants));
    return realised(graph, cover, {std::move(artifact)});
  }

  PricingOptions pricing_options() const {
    return {.measure = options_,
            .files = {.graph_file = prepared_.graph_file,
                      .record_file = prepared_.record,
                      .model = std::filesystem::path(options_.name_of_model()).filename().string()},
            .converters = {},
            .locations = {},
            .progress = options_.progress};
  }

  Result<RealisedPlan> realised(const Graph& graph, const Cover& cover, std::vector<Artifact> artifacts) {
    AssembleRequest request{.graph = &graph, .cover = &cover, .artifacts = std::move(artifacts)};
    request.header.model_path = options_.name_of_model();
    request.header.model_hash = prepared_.imported.model_hash;
    request.header.shapes = plan_.shapes;
    request.header.machine = machine_print();
    request.header.accuracy = plan_.accuracy;
    request.header.passes_off = plan_.passes_off;
    request.header.threads = plan_.threads;
    request.header.shipped = plan_.shipped;
    return assemble(request, registry_);
  }

  /// Runs the plan once in a worker.
  Result<void> check_numbers(const RealisedPlan& plan) {
    const std::string file = folder_.file("replayed.collage");
    COLLAGE_TRY_VOID(save_plan(plan, file, Durability::kPassing));
    COLLAGE_TRY(const std::vector<ConfirmLane> lanes, confirm(worker_,
                                                              {.plans = {{.name = "replay", .file = file}},
                                                               .inputs = prepared_.inputs,
                                                               .expected = prepared_.outputs,
                                                               .more = prepared_.more_inputs,
                                                               .accuracy = plan_.accuracy,
                                                               .threads = plan_.threads,
                                                               .seconds = 0,
                                                               .min_rounds = 0,
                                                               .seed = options_.seed},
                                                              options_.stop, std::chrono::minutes(5)));
    if (lanes.front().failure.empty()) return {};
    return fail(ExitCode::kDifference, "tune/wrong-numbers", options_.replay, lanes.front().failure,
                "the numbers of the reference");
  }

  TuneReport report_on(const Plan& plan) const {
    TuneReport report{.plan = options_.output,
                      .model = options_.name_of_model(),
                      .threads = plan.threads,
                      .passes_off = plan.passes_off};
    const StepCounts counts = count_steps(plan);
    report.steps = counts.steps;
    report.views = counts.views;
    report.backends = counts.backends;
    report.shipped = plan.shipped;
    report.notes = prepared_.notes;
    report.notes.push_back("the decisions of " + options_.replay + " again: nothing was measured");
    if (plan.machine != plan_.machine) report.notes.push_back("its costs are those of another machine");
    return report;
  }

  const Plan& plan_;
  const TuneOptions& options_;
  Registry& registry_;
  const WorkFolder& folder_;
  Store& store_;
  WorkerProcess worker_{options_.worker_command};
  PlanPacker packer_{registry_, folder_};
  Prepared prepared_;
};

}  // namespace

Result<TuneReport> replay(const TuneOptions& options, Registry& registry) {
  const auto start = Clock::now();
  COLLAGE_TRY_VOID(check_can_save(options.output));
  COLLAGE_TRY(const RealisedPlan old, load_plan(options.replay));
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  COLLAGE_TRY(Store store, Store::open(options.store));
  const TuneOptions adjusted = with_settings_of(old.plan, options);
  COLLAGE_TRY(TuneReport report, Replayer(old.plan, adjusted, registry, folder, store).run());
  report.tune_s = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace collage
