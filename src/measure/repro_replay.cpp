#include "measure/repro_replay.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/work_folder.h"
#include "measure/jobs.h"
#include "numbers/graph_file.h"
#include "numbers/record.h"
#include "worker/worker_process.h"

namespace collage {
namespace {

bool is_plain_only(const Variant& variant) {
  return std::ranges::all_of(variant.input_formats, &Format::is_plain) &&
         std::ranges::all_of(variant.output_formats, &Format::is_plain);
}

class Replayer {
 public:
  Replayer(const ReplayOptions& options, Registry& registry, WorkFolder folder, ReplayReport report)
      : options_(options),
        registry_(registry),
        folder_(std::move(folder)),
        worker_(options.worker_command),
        report_(std::move(report)) {}

  Result<ReplayReport> run() {
    COLLAGE_TRY_VOID(write_files());
    std::vector<std::string> backends = options_.backends;
    if (backends.empty()) backends.push_back(recorded().backend);
    for (const std::string& backend : backends) {
      COLLAGE_TRY(Replay one, replay(backend));
      report_.passes &= one.verdict == ReplayVerdict::kPasses;
      report_.replays.push_back(std::move(one));
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] const ReproBundle& recorded() const { return report_.recorded; }

  Result<void> write_files() {
    if (recorded().conversion) return {};
    const Graph& graph = recorded().graph;
    COLLAGE_TRY_VOID(write_graph_file(folder_.file("graph.onnx"), graph));
    COLLAGE_TRY(RecordWriter record, RecordWriter::create(folder_.file("record")));
    std::set<std::string> written;
    const auto add = [&](const std::vector<ValueId>& values, const std::vector<Tensor>& tensors) -> Result<void> {
      for (std::size_t i = 0; i < values.size(); ++i)
        if (const std::string& name = graph.value(values[i]).name; written.insert(name).second)
          COLLAGE_TRY_VOID(record.add(name, tensors[i]));
      return {};
    };
    COLLAGE_TRY_VOID(add(graph.inputs, recorded().inputs));
    COLLAGE_TRY_VOID(add(graph.outputs, recorded().expected));
    return record.finish();
  }

  /// The recorded variant on the recorded backend, else one of the backend's own.
  std::expected<Variant, Refusal> variant_for(const std::string& name, Backend& backend) const {
    if (recorded().conversion || name == recorded().backend) return recorded().variant;
    const Graph& graph = recorded().graph;
    auto variants = backend.support(graph, whole_region(graph, uses_of(graph)), recorded().options);
    if (!variants) return std::unexpected(variants.error());
    const auto plain = std::ranges::find_if(*variants, is_plain_only);
    if (plain != variants->end()) return *plain;
    return std::unexpected(Refusal{.reason = RefusalReason::kFormat, .detail = "no variant with plain formats"});
  }

  Result<Replay> replay(const std::string& name) {
    COLLAGE_TRY(Backend * backend, registry_.get(name));
    Replay one{.backend = name,
               .version = backend->info().version,
               .build = backend->info().build,
               .variant = {},
               .refusal = std::nullopt,
               .stage = {},
               .measured = std::nullopt};
    const auto variant = variant_for(name, *backend);
    if (!variant) return refused(std::move(one), variant.error(), "support");
    one.variant = variant->name;
    CandidateSpec candidate{.backend = name, .variant = *variant};
    if (name == recorded().backend) candidate.labels = recorded().labels;
    worker_.stop();  // each in a process in which nothing ran before
    PriceJob job = job_for(candidate);
    auto outcome = worker_.call(to_json(job), allowance(), options_.stop);
    // As in a tune: where nobody was at work it was the reference.
    job.judging.recorded_only = true;
    if (!outcome && !outcome.error().stopped && !outcome.error().candidate)
      outcome = worker_.call(to_json(job), allowance(), options_.stop);
    if (!outcome) {
      const Death& death = outcome.error();
      if (death.stopped) return fail(ExitCode::kInterrupted, "measure/stopped", "worker", "a request to stop");
      return refused(std::move(one), death.refusal, death.stage);
    }
    if (!*outcome) return std::unexpected(outcome->error());
    COLLAGE_TRY(const PriceAnswer answer, price_answer_from(**outcome));
    if (answer.candidates.size() != 1)
      return fail(ExitCode::kBug, "measure/malformed-json", "price answer", "another number of candidates", "one");
    const CandidateAnswer& only = answer.candidates.front();
    if (const auto* infeasible = std::get_if<Infeasible>(&only.cost))
      return refused(std::move(one), infeasible->refusal, only.stage);
    if (const auto* measured = std::get_if<Measured>(&only.cost)) one.measured = *measured;
    return one;
  }

  [[nodiscard]] Replay refused(Replay one, const Refusal& refusal, const std::string& stage) const {
    one.verdict = refusal.reason == recorded().refusal.reason ? ReplayVerdict::kSame : ReplayVerdict::kOther;
    one.refusal = refusal;
    one.stage = stage;
    return one;
  }

  [[nodiscard]] PriceJob job_for(const CandidateSpec& candidate) const {
    PriceJob job{.target = {.graph_file = folder_.file("graph.onnx"),
                            .record_file = folder_.file("record"),
                            .conversion = recorded().conversion},
                 .candidates = {candidate},
                 .options = recorded().options,
                 .artifact_folder = folder_.path(),
                 .timing = {.displaced_bytes = recorded().displaced_bytes},
                 .judging = {.seed = recorded().seed}};
    for (std::uint32_t n = 0; n < recorded().graph.nodes.size(); ++n) job.target.nodes.push_back(n);
    return job;
  }

  [[nodiscard]] Allowance allowance() const {
    const auto compile = options_.limit.value_or(recorded().compile_limit);
    // The worker's start loads libraries, whatever time the candidate has.
    return usual_allowance(std::max(compile, std::chrono::nanoseconds(std::chrono::seconds(60))), compile,
                           options_.limit.value_or(recorded().run_limit));
  }

  const ReplayOptions& options_;
  Registry& registry_;
  WorkFolder folder_;
  WorkerProcess worker_;
  ReplayReport report_;
};

std::string refusal_text(const Refusal& refusal, const std::string& stage) {
  const std::string where = stage.empty() ? "" : " at " + stage;
  return fmt::format("{}{}: {}", name_of(refusal.reason), where, refusal.detail);
}

std::string what_happens(const Replay& one) {
  switch (one.verdict) {
    case ReplayVerdict::kPasses:
      return one.measured ? fmt::format("passes, {:.1f} us", static_cast<double>(one.measured->median_ns) / 1000)
                          : "passes";
    case ReplayVerdict::kSame:
      return "still fails, " + refusal_text(*one.refusal, one.stage);
    case ReplayVerdict::kOther:
      return "fails otherwise, " + refusal_text(*one.refusal, one.stage);
  }
  return "";
}

Json to_json_value(const Refusal& refusal, const std::string& stage) {
  return {{"stage", stage}, {"reason", name_of(refusal.reason)}, {"detail", refusal.detail}};
}

}  // namespace

std::string_view name_of(ReplayVerdict verdict) {
  switch (verdict) {
    case ReplayVerdict::kPasses:
      return "passes";
    case ReplayVerdict::kSame:
      return "same";
    case ReplayVerdict::kOther:
      return "other";
  }
  return "";
}

Result<ReplayReport> replay_bundle(const std::string& folder, const ReplayOptions& options, Registry& registry) {
  COLLAGE_TRY(ReproBundle bundle, read_bundle(folder));
  COLLAGE_TRY(WorkFolder work, WorkFolder::create());
  return Replayer(options, registry, std::move(work), {.folder = folder, .recorded = std::move(bundle), .replays = {}})
      .run();
}

std::string to_text(const ReplayReport& report) {
  const ReproBundle& then = report.recorded;
  std::string text = fmt::format("recorded  {} {} (build {}), {}: {}\n", then.backend, then.version, then.build,
                                 then.conversion ? "conversion" : "variant " + then.variant.name,
                                 refusal_text(then.refusal, then.stage));
  for (const Replay& one : report.replays)
    text +=
        fmt::format("now       {} {} (build {}{}): {}\n", one.backend, one.version, one.build,
                    one.backend == then.backend && one.build != then.build ? ", another one" : "", what_happens(one));
  return text;
}

std::string to_json(const ReplayReport& report) {
  const ReproBundle& then = report.recorded;
  nlohmann::ordered_json object = {
      {"schema", "collage.replay/1"}, {"folder", report.folder}, {"passes", report.passes}};
  object["recorded"] = {{"backend", then.backend},
                        {"version", then.version},
                        {"build", then.build},
                        {"variant", then.conversion ? "" : then.variant.name},
                        {"failure", to_json_value(then.refusal, then.stage)},
                        {"machine", then.machine}};
  object["replays"] = nlohmann::ordered_json::array();
  for (const Replay& one : report.replays) {
    nlohmann::ordered_json entry = {{"backend", one.backend},
                                    {"version", one.version},
                                    {"build", one.build},
                                    {"variant", one.variant},
                                    {"verdict", name_of(one.verdict)}};
    entry["failure"] = one.refusal ? nlohmann::ordered_json(to_json_value(*one.refusal, one.stage)) : nullptr;
    entry["median_us"] =
        one.measured ? nlohmann::ordered_json(static_cast<double>(one.measured->median_ns) / 1000) : nullptr;
    object["replays"].push_back(std::move(entry));
  }
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace collage
