#include "tune/replay.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "measure/artifact_file.h"
#include "measure/machine.h"
#include "plan/plan_file.h"
#include "tune/assemble.h"
#include "tune/jobs.h"
#include "tune/plan_packer.h"
#include "tune/pricing.h"
#include "tune/proposers.h"
#include "tune/stages.h"
#include "tune/whole_model.h"

namespace collage {
namespace {

constexpr const char* kCover = "cover";

/// A copy of a value to a model output: made anew with every plan.
bool is_copy(const Plan& plan, const PlanStep& step) {
  return step.kind == StepKind::kConvert && step.nodes.empty() && step.inputs.size() == 1 && step.outputs.size() == 1 &&
         plan.values[step.inputs.front()].format == plan.values[step.outputs.front()].format;
}

/// Reads the steps of a plan as steps of a cover.
class CoverReader {
 public:
  CoverReader(const Plan& plan, const Graph& graph, const VariantSource& variants)
      : plan_(plan), graph_(graph), variants_(variants), uses_(uses_of(graph)), covered_(graph.nodes.size()) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) nodes_.emplace(graph.nodes[n].name, n);
    for (std::uint32_t v = 0; v < graph.values.size(); ++v) values_.emplace(graph.values[v].name, ValueId{v});
  }

  Result<Cover> run() {
    Cover cover;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      if (is_copy(plan_, plan_.steps[s])) continue;
      COLLAGE_TRY(CoverStep step, plan_.steps[s].nodes.empty() ? conversion(s) : kernel(s));
      const PlanStep& from = plan_.steps[s];
      step.kind = from.kind;
      step.backend = from.backend;
      step.cost = Measured{.median_ns = from.cost_ns, .low_ns = from.cost_low_ns, .high_ns = from.cost_high_ns};
      step.runner_up = from.runner_up;
      cover.steps.push_back(std::move(step));
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!covered_.contains(n))
        return fail(ExitCode::kBadInput, "plan/other-graph", plan_.model_path,
                    "no step for node " + graph_.nodes[n].name, "a plan of this graph");
    return cover;
  }

 private:
  std::unexpected<Error> other_graph(std::size_t step, const std::string& saw) const {
    const PlanStep& from = plan_.steps[step];
    std::string what = "a conversion";
    if (!from.nodes.empty())
      what = from.nodes.front();
    else if (!from.inputs.empty())
      what = value(from.inputs.front()).name;
    return fail(ExitCode::kBadInput, "plan/other-graph",
                fmt::format("{}: step {} ({}/{} at {})", plan_.model_path, step, from.backend, from.variant, what), saw,
                "the graph that the plan was made for");
  }

  const PlanValue& value(PlanIndex index) const { return plan_.values[index]; }

  Result<CoverStep> conversion(std::size_t s) const {
    const PlanStep& from = plan_.steps[s];
    if (from.inputs.size() != 1 || from.outputs.size() != 1) return other_graph(s, "a conversion of several values");
    const auto found = values_.find(value(from.inputs.front()).name);
    if (found == values_.end()) return other_graph(s, "no such value");
    CoverStep step;
    step.value = found->second;
    step.from = value(from.inputs.front()).format;
    step.to = value(from.outputs.front()).format;
    return step;
  }

  Result<CoverStep> kernel(std::size_t s) {
    const PlanStep& from = plan_.steps[s];
    NodeSet nodes(graph_.nodes.size());
    for (const std::string& name : from.nodes) {
      const auto found = nodes_.find(name);
      if (found == nodes_.end()) return other_graph(s, "no node " + name);
      if (covered_.contains(found->second)) return other_graph(s, "node " + name + " in two steps");
      nodes.insert(found->second);
    }
    covered_ |= nodes;
    CoverStep step;
    step.region = make_region(graph_, uses_, std::move(nodes));
    if (structure_key(graph_, step.region) != from.structure)
      return other_graph(s, "nodes of these names with other operators, attributes, types or shapes");
    if (!has_values(from.outputs, step.region.outputs)) return other_graph(s, "other values that leave the step");
    if (from.kind == StepKind::kKernel && !has_values(from.inputs, step.region.inputs))
      return other_graph(s, "other values that enter the step");
    COLLAGE_TRY(step.variant, variant(s, step.region));
    return step;
  }

  bool has_values(const std::vector<PlanIndex>& ports, const std::vector<ValueId>& expected) const {
    return std::ranges::equal(ports, expected, [this](PlanIndex port, ValueId id) {
      return value(port).name == graph_.value(id).name && value(port).type == graph_.value(id).type;
    });
  }

  /// The backend's own variant of this name with the formats of the plan's values.
  Result<Variant> variant(std::size_t s, const Region& region) const {
    const PlanStep& from = plan_.steps[s];
    COLLAGE_TRY(const std::vector<Variant> offered, variants_(from.backend, region));
    for (const Variant& variant : offered)
      if (variant.name == from.variant && formats_fit(from.inputs, region.inputs, variant.input_formats) &&
          formats_fit(from.outputs, region.outputs, variant.output_formats))
        return variant;
    return fail(ExitCode::kUnsupported, "plan/other-variant",
                fmt::format("{}: step {} at {}", plan_.model_path, s, from.nodes.front()),
                fmt::format("{} offers no variant {} with these formats", from.backend, from.variant),
                "the backend that the plan was made with");
  }

  /// A view's plan step has its data input only, so ports are compared by name.
  bool formats_fit(const std::vector<PlanIndex>& ports, const std::vector<ValueId>& ids,
                   const std::vector<Format>& formats) const {
    if (formats.size() != ids.size()) return false;
    return std::ranges::all_of(ports, [&](PlanIndex port) {
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (graph_.value(ids[i]).name == value(port).name) return formats[i] == value(port).format;
      const auto found = values_.find(value(port).name);
      return found != values_.end() && graph_.value(found->second).constant.has_value();
    });
  }

  const Plan& plan_;
  const Graph& graph_;
  const VariantSource& variants_;
  const Uses uses_;
  NodeSet covered_;
  std::unordered_map<std::string, std::size_t> nodes_;
  std::unordered_map<std::string, ValueId> values_;
};

/// The plan's own settings in place of the user's.
TuneOptions options_of(const Plan& plan, TuneOptions options) {
  options.shapes.entries = plan.shapes;
  options.threads = plan.threads;
  options.accuracy = accuracy_of(plan.accuracy).value_or(Accuracy::kStandard);
  options.backends.clear();
  for (const PlanBackend& backend : plan.backends) options.backends.push_back(backend.name);
  return options;
}

/// Makes the plan again, from prepared graph to file.
class Replayer {
 public:
  Replayer(const Plan& plan, const TuneOptions& options, Registry& registry, const WorkFolder& folder, Store& store)
      : plan_(plan), options_(options), registry_(registry), folder_(folder), store_(store) {}

  Result<TuneReport> run() {
    for (const std::string& name : options_.backends) COLLAGE_TRY_VOID(registry_.get(name));
    COLLAGE_TRY(prepared_, prepare({.model = options_.model,
                                    .shapes = options_.shapes,
                                    .backends = options_.backends,
                                    .accuracy = options_.accuracy,
                                    .seed = options_.seed,
                                    .input_ranges = options_.input_ranges,
                                    .progress = options_.progress},
                                   folder_, registry_, worker_));
    if (options_.progress) options_.progress({.phase = "replay", .note = {}});
    COLLAGE_TRY(RealisedPlan plan, plan_.shipped == kCover ? from_cover() : from_engine());
    plan.plan.report_json = plan_.report_json;
    plan = packer_.pack(std::move(plan));
    COLLAGE_TRY_VOID(check_numbers(plan));
    COLLAGE_TRY_VOID(save_plan(plan, options_.output));
    return report_on(plan.plan);
  }

 private:
  Result<RealisedPlan> from_cover() {
    const CompileOptions compile{.threads = options_.threads, .accuracy = options_.accuracy};
    COLLAGE_TRY(const std::vector<Proposer> proposers,
                make_proposers(registry_, options_.backends, prepared_.graph, compile));
    const VariantSource variants = [&](const std::string& backend,
                                       const Region& region) -> Result<std::vector<Variant>> {
      const auto proposer = std::ranges::find(proposers, backend, &Proposer::backend);
      if (proposer == proposers.end()) return std::vector<Variant>();
      return proposer->support(region).value_or(std::vector<Variant>());
    };
    COLLAGE_TRY(const Cover cover, cover_from_plan(plan_, prepared_.graph, variants));
    Pricing pricing(pricing_options(), prepared_.graph, registry_, store_);
    COLLAGE_TRY(std::vector<Artifact> artifacts, pricing.artifacts(cover));
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
    const Region& region = cover.steps.front().region;
    if (structure_key(graph, region) != step.structure)
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
    return {.worker_command = options_.worker_command,
            .graph_file = prepared_.graph_file,
            .record = prepared_.record,
            .converters = {},
            .threads = options_.threads,
            .accuracy = options_.accuracy,
            .seed = options_.seed,
            .compile_limit = options_.compile_limit,
            .run_limit = options_.run_limit,
            .deadline = Clock::time_point::max(),
            .progress = options_.progress,
            .stop = options_.stop};
  }

  Result<RealisedPlan> realised(const Graph& graph, const Cover& cover, std::vector<Artifact> artifacts) {
    AssembleRequest request{.graph = &graph, .cover = &cover, .artifacts = std::move(artifacts)};
    request.header.model_path = options_.model;
    request.header.model_hash = prepared_.imported.model_hash;
    request.header.shapes = plan_.shapes;
    request.header.machine = machine_print();
    request.header.accuracy = plan_.accuracy;
    request.header.threads = plan_.threads;
    request.header.shipped = plan_.shipped;
    return assemble(request, registry_);
  }

  /// Runs the plan once in a worker.
  Result<void> check_numbers(const RealisedPlan& plan) {
    const std::string file = folder_.file("replayed.collage");
    COLLAGE_TRY_VOID(save_plan(plan, file));
    COLLAGE_TRY(const std::vector<ConfirmLane> lanes, confirm(worker_,
                                                              {.contenders = {{.name = "replay", .plan = file}},
                                                               .inputs = prepared_.inputs,
                                                               .expected = prepared_.outputs,
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
    TuneReport report{.plan = options_.output, .model = options_.model, .threads = plan.threads};
    report.steps = plan.steps.size();
    for (const PlanStep& step : plan.steps) ++report.backends[step.backend];
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
  PlanPacker packer_{registry_};
  Prepared prepared_;
};

}  // namespace

std::string decisions_text(const Plan& plan) {
  std::string text;
  const auto ports = [&](const char* arrow, const std::vector<PlanIndex>& list) {
    text += arrow;
    for (const PlanIndex index : list) text += " " + plan.values[index].name + ":" + plan.values[index].format.name;
  };
  for (const PlanStep& step : plan.steps) {
    text += fmt::format("{} {}/{}:", plan_name_of(step.kind), step.backend, step.variant);
    for (const std::string& node : step.nodes) text += " " + node;
    ports(" |", step.inputs);
    ports(" ->", step.outputs);
    text += "\n";
  }
  return text;
}

Result<Cover> cover_from_plan(const Plan& plan, const Graph& graph, const VariantSource& variants) {
  return CoverReader(plan, graph, variants).run();
}

Result<TuneReport> replay(const TuneOptions& options, Registry& registry) {
  const auto start = Clock::now();
  COLLAGE_TRY_VOID(check_can_save(options.output));
  COLLAGE_TRY(const RealisedPlan old, load_plan(options.replay));
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  COLLAGE_TRY(Store store, Store::open(options.store));
  const TuneOptions adjusted = options_of(old.plan, options);
  COLLAGE_TRY(TuneReport report, Replayer(old.plan, adjusted, registry, folder, store).run());
  report.tune_s = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace collage
