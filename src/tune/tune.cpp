#include "tune/tune.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "measure/artifact_file.h"
#include "measure/machine.h"
#include "measure/pricer.h"
#include "measure/store.h"
#include "plan/plan_file.h"
#include "tune/assemble.h"
#include "tune/covers.h"
#include "tune/guard.h"
#include "tune/jobs.h"
#include "tune/pricing.h"
#include "tune/proposers.h"
#include "tune/stages.h"
#include "tune/whole_model.h"

namespace collage {
namespace {

using Seconds = std::chrono::duration<double>;

/// A plan that may ship: its entry in the guard and what it was made of.
struct Finished {
  GuardEntry entry;
  std::optional<SearchResult> search;  ///< nothing for whole-model rivals
  Cover cover;
};

class Tuner {
 public:
  Tuner(const TuneOptions& options, Registry& registry, WorkFolder folder, Store store)
      : options_(options),
        registry_(registry),
        folder_(std::move(folder)),
        store_(std::move(store)),
        worker_(options.worker_command) {}

  Result<TuneReport> run() {
    COLLAGE_TRY_VOID(choose_backends());
    COLLAGE_TRY(prepared_, prepare(prepare_options(), folder_, registry_, worker_));
    COLLAGE_TRY_VOID(make_rivals());
    COLLAGE_TRY_VOID(make_covers());
    COLLAGE_TRY(GuardVerdict verdict, guard());
    COLLAGE_TRY_VOID(improve_with_context(verdict));
    COLLAGE_TRY_VOID(ship(verdict));
    report_.interrupted = options_.stop.stop_requested();
    report_.tune_s = Seconds(Clock::now() - start_).count();
    for (const std::string& note : prepared_.notes) report_.notes.push_back(note);
    for (const std::string& warning : store_.warnings()) report_.notes.push_back(warning);
    return std::move(report_);
  }

 private:
  void say(const std::string& phase, std::string note = {}) const {
    if (options_.progress) options_.progress({.phase = phase, .note = std::move(note)});
  }

  /// Instances that may take nodes: those asked for that work here. An unusable one is a note, unless nothing is left.
  Result<void> choose_backends() {
    std::vector<std::string> wanted = options_.backends;
    if (options_.only) wanted = {*options_.only};
    for (const std::string& name : wanted) {
      if (name == "host") continue;
      const auto backend = registry_.get(name);
      if (backend) {
        backends_.push_back(name);
      } else if (options_.only) {
        return std::unexpected(backend.error());
      } else {
        prepared_notes_.push_back(name + " takes no part: " + to_string(backend.error()));
      }
    }
    proposing_ = backends_;
    proposing_.insert(proposing_.begin(), "host");
    if (std::find(proposing_.begin(), proposing_.end(), kFiller) == proposing_.end() && registry_.get(kFiller))
      proposing_.emplace_back(kFiller);
    return {};
  }

  PrepareOptions prepare_options() const {
    return {.model = options_.model,
            .shapes = options_.shapes,
            .backends = proposing_,
            .accuracy = options_.accuracy,
            .seed = options_.seed,
            .input_ranges = options_.input_ranges,
            .progress = options_.progress};
  }

  Plan header() const {
    Plan header;
    header.model_path = options_.model;
    header.model_hash = prepared_.imported.model_hash;
    header.shapes = options_.shapes.entries;
    header.machine = machine_print();
    header.accuracy = name_of(options_.accuracy);
    header.threads = options_.threads;
    return header;
  }

  // ---- rivals ----------------------------------------------------------------------------------------------
  /// Every engine on the user's file and on the simplified graph, each as a plan of one step.
  Result<void> make_rivals() {
    say("rivals");
    for (const std::string& name : backends_) {
      COLLAGE_TRY(Backend * backend, registry_.get(name));
      if (!backend->info().is_engine) continue;
      add_rival(name, name, prepared_.imported.graph, prepared_.imported_file, prepared_.original_file);
      add_rival(name + " on the simplified graph", name, prepared_.graph, prepared_.graph_file, "");
    }
    return {};
  }

  void add_rival(const std::string& title, const std::string& engine, const Graph& graph, const std::string& graph_file,
                 const std::string& model_file) {
    const auto made = [&]() -> Result<Finished> {
      const Cover cover = whole_cover(graph, engine);
      COLLAGE_TRY(Artifact artifact, rival_artifact(engine, cover.steps.front().region, graph, graph_file, model_file));
      return finish(title, graph, cover, {std::move(artifact)}, true);
    }();
    if (made)
      finished_.push_back(*made);
    else
      prepared_notes_.push_back(title + " does not run this model: " + made.error().saw);
  }

  Result<Artifact> rival_artifact(const std::string& engine, const Region& region, const Graph& graph,
                                  const std::string& graph_file, const std::string& model_file) {
    COLLAGE_TRY(Backend * backend, registry_.get(engine));
    const BackendInfo& info = backend->info();
    const std::string model_key = model_file.empty() ? structure_key(graph, region) : prepared_.imported.model_hash;
    const std::string key = fmt::format("rival|{}|{}|{}|{}|{}|{}|{}", info.name, info.build, options_.threads,
                                        machine_print(), model_key, weights_hash(graph, region), shapes_text());
    if (const auto stored = store_.artifact(key))
      if (auto artifact = read_artifact(store_.artifact_folder(), *stored, region.constants)) return artifact;
    COLLAGE_TRY(const std::string hash, compile_model(worker_, {.graph = graph_file,
                                                                .model = model_file,
                                                                .engine = engine,
                                                                .folder = store_.artifact_folder(),
                                                                .threads = options_.threads}));
    store_.put_artifact(key, hash);
    return read_artifact(store_.artifact_folder(), hash, region.constants);
  }

  std::string shapes_text() const {
    std::string text;
    for (const auto& [name, shape] : options_.shapes.entries) text += name + "=" + shape + ";";
    return text;
  }

  /// Writes a plan file and makes it an entry of the guard.
  Result<Finished> finish(const std::string& title, const Graph& graph, const Cover& cover,
                          std::vector<Artifact> artifacts, bool is_rival) {
    AssembleRequest assembly;
    assembly.graph = &graph;
    assembly.cover = &cover;
    assembly.artifacts = std::move(artifacts);
    assembly.header = header();
    assembly.header.shipped = is_rival ? title : "cover";
    COLLAGE_TRY(const RealisedPlan plan, assemble(assembly, registry_));
    const std::string path = folder_.file(fmt::format("plan-{}.collage", finished_.size()));
    COLLAGE_TRY_VOID(save_plan(plan, path));
    return Finished{.entry = {.name = title, .plan = path, .steps = plan.plan.steps.size(), .is_rival = is_rival},
                    .search = std::nullopt,
                    .cover = cover};
  }

  // ---- covers ----------------------------------------------------------------------------------------------
  Result<void> make_covers() {
    const Graph& graph = prepared_.graph;
    const Uses uses = uses_of(graph);
    if (graph.nodes.empty()) return {};
    say("propose");
    const CompileOptions compile{.threads = options_.threads, .accuracy = options_.accuracy};
    COLLAGE_TRY(const std::vector<Proposer> proposers, make_proposers(registry_, proposing_, graph, compile));
    pool_ = propose(graph, uses, proposers);
    pricing_.emplace(pricing_options(), graph, registry_, store_);
    COLLAGE_TRY(costs_, pricing_->price(pool_));
    report_.candidates = pool_.candidates.size();
    say("search");
    return add_covers({});
  }

  PricingOptions pricing_options() const {
    return {.worker_command = options_.worker_command,
            .graph_file = prepared_.graph_file,
            .record = prepared_.record,
            .converters = converters(),
            .threads = options_.threads,
            .accuracy = options_.accuracy,
            .seed = options_.seed,
            .deadline = start_ + std::chrono::duration_cast<Clock::duration>(Seconds(options_.budget_s)),
            .progress = options_.progress,
            .stop = options_.stop};
  }

  /// Everyone who is not an engine may convert between the common formats.
  std::vector<std::string> converters() const {
    std::vector<std::string> names = {"host"};
    for (const std::string& name : backends_)
      if (const auto backend = registry_.get(name); backend && !(*backend)->info().is_engine) names.push_back(name);
    return names;
  }

  /// Searches under the costs, corrected by context, and turns the covers that are new into plans.
  Result<void> add_covers(const std::map<std::string, double>& corrections) {
    CoverRequest request;
    request.graph = &prepared_.graph;
    request.pool = &pool_;
    request.costs = costs_;
    request.backends = backends_;
    request.corrections = corrections;
    auto covers = pricing_->search(request);
    if (!covers) {
      prepared_notes_.push_back("no mixed plan: " + to_string(covers.error()));
      return {};
    }
    for (NamedCover& named : *covers) {
      const std::string text = to_text(prepared_.graph, named.result.cover);
      if (std::find(cover_texts_.begin(), cover_texts_.end(), text) != cover_texts_.end()) continue;
      cover_texts_.push_back(text);
      add_cover(std::move(named), corrections.empty() ? "" : ", corrected");
    }
    return {};
  }

  void add_cover(NamedCover named, const std::string& suffix) {
    const auto made = [&]() -> Result<Finished> {
      COLLAGE_TRY(std::vector<Artifact> artifacts, pricing_->artifacts(named.result.cover));
      return finish(named.name + suffix, prepared_.graph, named.result.cover, std::move(artifacts), false);
    }();
    if (!made) {
      prepared_notes_.push_back("plan \"" + named.name + "\" left out: " + to_string(made.error()));
      return;
    }
    finished_.push_back(*made);
    finished_.back().search = std::move(named.result);
  }

  // ---- the guard -------------------------------------------------------------------------------------------
  Result<GuardVerdict> guard() {
    say("confirm");
    std::vector<GuardEntry> entries;
    std::string question = machine_print() + "|" + shapes_text() + "|" + std::to_string(options_.threads);
    for (const Finished& finished : finished_) {
      entries.push_back(finished.entry);
      COLLAGE_TRY(const RealisedPlan plan, load_plan(finished.entry.plan));
      question += "|" + finished.entry.name + plan_question(plan);
    }
    const std::string key = "guard|" + prepared_.imported.model_hash + "|" + hash_hex(question);
    if (const auto stored = store_.verdict(key))
      if (auto verdict = guard_verdict_from(*stored); verdict && verdict->median_ns.size() == entries.size())
        return verdict;
    COLLAGE_TRY(GuardVerdict verdict, judge(entries, guard_options(), worker_));
    const bool all_ran = std::all_of(verdict.failures.begin(), verdict.failures.end(),
                                     [](const std::string& failure) { return failure.empty(); });
    if (all_ran && !options_.stop.stop_requested()) store_.put_verdict(key, to_json(verdict));
    return verdict;
  }

  /// What a plan's time depends on: its steps and artifacts, not the costs written beside them.
  static std::string plan_question(const RealisedPlan& plan) {
    std::string text;
    for (const PlanStep& step : plan.plan.steps) text += step.backend + step.variant + step.artifact + ";";
    for (const PlanBackend& backend : plan.plan.backends) text += backend.name + backend.build + ";";
    return text;
  }

  GuardOptions guard_options() const {
    return {.inputs = prepared_.inputs,
            .expected = prepared_.outputs,
            .accuracy = std::string(name_of(options_.accuracy)),
            .threads = options_.threads,
            .seed = options_.seed,
            .stop = options_.stop};
  }

  /// Steps take another time in context than alone. Learns a factor per backend from the covers that were timed,
  /// searches again, and lets new covers compete.
  Result<void> improve_with_context(GuardVerdict& verdict) {
    if (options_.stop.stop_requested() || !pricing_) return {};
    const std::map<std::string, double> corrections = context_corrections(verdict);
    const std::size_t before = finished_.size();
    COLLAGE_TRY_VOID(add_covers(corrections));
    if (finished_.size() == before) return {};
    COLLAGE_TRY(verdict, guard());
    return {};
  }

  std::map<std::string, double> context_corrections(const GuardVerdict& verdict) const {
    std::map<std::string, std::pair<double, double>> sums;  // in context, alone
    for (std::size_t f = 0; f < finished_.size(); ++f) {
      if (finished_[f].entry.is_rival) continue;
      const std::vector<CoverStep>& steps = finished_[f].cover.steps;
      for (std::size_t s = 0; s < std::min(steps.size(), verdict.step_ns[f].size()); ++s) {
        const auto* alone = std::get_if<Measured>(&steps[s].cost);
        if (steps[s].kind != StepKind::kKernel || !alone) continue;
        sums[steps[s].backend].first += static_cast<double>(verdict.step_ns[f][s]);
        sums[steps[s].backend].second += static_cast<double>(alone->median_ns);
      }
    }
    std::map<std::string, double> corrections;
    for (const auto& [backend, sum] : sums)
      if (sum.second > 0) corrections[backend] = std::clamp(sum.first / sum.second, 0.5, 3.0);
    return corrections;
  }

  // ---- result ----------------------------------------------------------------------------------------------
  Result<void> ship(const GuardVerdict& verdict) {
    const Finished& winner = finished_[verdict.winner];
    fill_report(verdict, winner);
    COLLAGE_TRY(RealisedPlan plan, load_plan(winner.entry.plan));
    plan.plan.shipped = report_.shipped;
    plan.plan.report_json = plan_report();
    return save_plan(plan, options_.output);
  }

  void fill_report(const GuardVerdict& verdict, const Finished& winner) {
    report_.plan = options_.output;
    report_.model = options_.model;
    report_.threads = options_.threads;
    report_.shipped = winner.entry.is_rival ? winner.entry.name : "cover";
    report_.measured_us = static_cast<double>(verdict.median_ns[verdict.winner]) / 1000;
    report_.steps = winner.entry.steps;
    for (const CoverStep& step : winner.cover.steps) ++report_.backends[step.backend];
    for (std::size_t f = 0; f < finished_.size(); ++f) {
      if (!verdict.failures[f].empty())
        prepared_notes_.push_back("\"" + finished_[f].entry.name + "\" failed: " + verdict.failures[f]);
      else if (f != verdict.winner)
        report_.rivals.push_back({.name = finished_[f].entry.name, .median_ns = verdict.median_ns[f]});
    }
    for (const Finished& finished : finished_)
      if (finished.search && finished.entry.name == "cover") fill_search(*finished.search);
    if (pricing_) {
      report_.measured = pricing_->counts().measured;
      report_.reused = pricing_->counts().reused;
      report_.refused = pricing_->counts().refused + pool_.refusals.size();
    }
    report_.predicted_us =
        winner.search ? static_cast<double>(winner.search->cover.cost_ns) / 1000 : report_.measured_us;
    report_.notes.insert(report_.notes.end(), prepared_notes_.begin(), prepared_notes_.end());
  }

  void fill_search(const SearchResult& search) {
    report_.cover_us = static_cast<double>(search.cover.cost_ns) / 1000;
    report_.model_bound_us = static_cast<double>(search.bound_ns) / 1000;
    // Every candidate was measured or refused, so the bound under the cost table needs no estimate.
    report_.proven_bound_us = report_.model_bound_us;
  }

  std::string plan_report() const {
    nlohmann::json rivals = nlohmann::json::object();
    for (const RivalTime& rival : report_.rivals) rivals[rival.name] = static_cast<double>(rival.median_ns) / 1000;
    nlohmann::json refusals = nlohmann::json::object();
    for (const RegionRefusal& refusal : pool_.refusals)
      if (pool_.regions[refusal.region].nodes.count() == 1)
        refusals[prepared_.graph.nodes[pool_.regions[refusal.region].nodes.next()].name][refusal.backend] =
            fmt::format("{}: {}", name_of(refusal.refusal.reason), refusal.refusal.detail);
    return nlohmann::json{{"search",
                           {{"cover_us", report_.cover_us},
                            {"model_bound_us", report_.model_bound_us},
                            {"measured_us", report_.measured_us},
                            {"candidates", report_.candidates}}},
                          {"rivals", rivals},
                          {"refusals", refusals}}
        .dump();
  }

  static constexpr const char* kFiller = "onnxruntime";

  const TuneOptions& options_;
  Registry& registry_;
  WorkFolder folder_;
  Store store_;
  WorkerProcess worker_;
  Clock::time_point start_ = Clock::now();
  std::vector<std::string> backends_;   ///< may take nodes
  std::vector<std::string> proposing_;  ///< those, host and the filler
  Prepared prepared_;
  std::vector<std::string> prepared_notes_;
  CandidatePool pool_;
  std::vector<Cost> costs_;
  std::optional<Pricing> pricing_;
  std::vector<Finished> finished_;
  std::vector<std::string> cover_texts_;
  TuneReport report_;
};

}  // namespace

Result<TuneReport> tune(const TuneOptions& options, Registry& registry) {
  COLLAGE_TRY_VOID(check_can_save(options.output));
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  COLLAGE_TRY(Store store, Store::open(options.store));
  Tuner tuner(options, registry, std::move(folder), std::move(store));
  return tuner.run();
}

std::string to_json(const TuneReport& report) {
  nlohmann::ordered_json rivals = nlohmann::ordered_json::object();
  for (const RivalTime& rival : report.rivals) rivals[rival.name] = static_cast<double>(rival.median_ns) / 1000;
  const nlohmann::ordered_json object = {{"schema", "collage.tune/1"},
                                         {"plan", report.plan},
                                         {"model", report.model},
                                         {"threads", report.threads},
                                         {"tune_s", report.tune_s},
                                         {"candidates", report.candidates},
                                         {"measured", report.measured},
                                         {"reused", report.reused},
                                         {"refused", report.refused},
                                         {"cover_us", report.cover_us},
                                         {"model_bound_us", report.model_bound_us},
                                         {"proven_bound_us", report.proven_bound_us},
                                         {"predicted_us", report.predicted_us},
                                         {"measured_us", report.measured_us},
                                         {"steps", report.steps},
                                         {"backends", report.backends},
                                         {"rivals", rivals},
                                         {"shipped", report.shipped},
                                         {"interrupted", report.interrupted},
                                         {"notes", report.notes}};
  return object.dump(2);
}

}  // namespace collage
