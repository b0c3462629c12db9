#include "tune/jobs.h"

#include "backend/held_value.h"
#include "numbers/graph_file.h"
#include "sandbox/import_job.h"
#include "store/artifact_file.h"
#include "tune/confirm/bound_share.h"
#include "tune/confirm/whole_model.h"
#include "tune/rehearsal.h"
#include "tune/shapes/open_model.h"
#include "tune/vendor_operators.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

Result<std::optional<Buffer>> map_model(const std::string& path) {
  if (path.empty()) return std::optional<Buffer>();
  COLLAGE_TRY(Buffer bytes, Buffer::map_file(path));
  return std::optional(std::move(bytes));
}

Result<std::string> compile_model_here(const CompileModelJob& job, Registry& registry) {
  COLLAGE_TRY(Backend * engine, registry.get(job.engine));
  COLLAGE_TRY(const Graph graph, read_graph_file(job.graph));
  COLLAGE_TRY(const std::optional<Buffer> model, map_model(job.model));
  CompileRequest request;
  request.graph = &graph;
  request.region = model_region(graph);
  request.variant = model_variant(request.region);
  if (model) request.model_bytes = model->text();
  if (const auto held = refuse_held_ports(*engine, graph, request.region))
    return fail(ExitCode::kUnsupported, "engine/refused", job.engine, held->detail);
  const CompileOptions options{.threads = job.threads, .accuracy = Accuracy::kStandard};
  if (!job.domain.dimensions.empty() && extension_of<OpenCompiler>(*engine) != nullptr) {
    const OpenRequest open{.graph = &graph, .region = request.region, .formats = request.variant, .domain = job.domain};
    COLLAGE_TRY(const OpenModelArtifact made, compile_open(*engine, open, options, {.asked = job.samples}));
    return write_artifact(job.folder, made.artifact, request.region.constants);
  }
  auto compiled = engine->compile({&request, 1}, options);
  if (!compiled.front())
    return fail(ExitCode::kUnsupported, "engine/refused", job.engine, compiled.front().error().detail);
  return write_artifact(job.folder, *compiled.front(), request.region.constants);
}

Json domain_to_json(const ShapeDomain& domain) {
  Json list = Json::array();
  for (const DimensionRange& range : domain.dimensions) list.push_back({range.name, range.low, range.high});
  return list;
}

ShapeDomain domain_from(const Json& json) {
  ShapeDomain domain;
  for (const Json& range : json)
    domain.dimensions.push_back({.name = range.at(0), .low = range.at(1), .high = range.at(2)});
  return domain;
}

Json samples_to_json(const std::vector<ShapeSample>& samples) {
  Json list = Json::array();
  for (const ShapeSample& sample : samples) list.push_back({{"point", sample.point}, {"weight", sample.weight}});
  return list;
}

std::vector<ShapeSample> samples_from(const Json& json) {
  std::vector<ShapeSample> samples;
  for (const Json& sample : json)
    samples.push_back({.point = sample.at("point"), .weight = sample.at("weight"), .is_asked = true});
  return samples;
}

Result<Json> run_compile_model(const Json& json, JobContext& context) {
  COLLAGE_TRY(const CompileModelJob job, read_json("compile-model job", [&] {
                return CompileModelJob{.graph = json.at("graph"),
                                       .model = json.at("model"),
                                       .engine = json.at("engine"),
                                       .folder = json.at("folder"),
                                       .threads = json.at("threads"),
                                       .domain = domain_from(json.at("domain")),
                                       .samples = samples_from(json.at("samples"))};
              }));
  COLLAGE_TRY(const std::string hash, compile_model_here(job, context.registry()));
  return Json{{"artifact", hash}};
}

Result<Json> run_confirm(const Json& json, JobContext& context) {
  COLLAGE_TRY(const ConfirmRequest request, confirm_request_from(json));
  COLLAGE_TRY(const std::vector<ConfirmLane> lanes, confirm_here(request, context.registry()));
  return to_json(lanes);
}

Result<Json> run_step_effects(const Json& json, JobContext& context) {
  COLLAGE_TRY(const StepEffectsRequest request, step_effects_request_from(json));
  COLLAGE_TRY(const std::vector<double> shares, step_effects_here(request, context.registry()));
  return Json{{"shares", shares}};
}

Result<Json> ask(WorkerProcess& worker, const Json& job, std::chrono::nanoseconds limit, std::stop_token stop = {}) {
  const Allowance allowance = [limit](const std::optional<JobProgress>&) { return limit; };
  auto answer = worker.call(job, allowance, stop);
  // Killed from outside, perhaps between two jobs: no evidence against this one.
  if (!answer && answer.error().refusal.reason == RefusalReason::kResources && !answer.error().stopped)
    answer = worker.call(job, allowance, stop);
  if (answer) return *std::move(answer);
  if (answer.error().stopped)
    return fail(ExitCode::kInterrupted, "tune/interrupted", "job " + job.at("type").get<std::string>(), "a stop");
  return fail(ExitCode::kUnsupported, "worker/died", "job " + job.at("type").get<std::string>(),
              answer.error().refusal.detail, "a worker that answers");
}

}  // namespace

std::vector<Handler> tune_handlers() {
  return {{.type = "compile-model", .run = run_compile_model},
          {.type = "confirm", .run = run_confirm},
          {.type = "step-effects", .run = run_step_effects},
          rehearsal_handler(),
          vendor_types_handler(),
          import_handler()};
}

Result<void> record(WorkerProcess& worker, const RecordJob& job) {
  COLLAGE_TRY_VOID(ask(worker, to_json(job), 300s));
  return {};
}

Result<std::string> compile_model(WorkerProcess& worker, const CompileModelJob& job, std::stop_token stop) {
  const Json json = {{"type", "compile-model"},
                     {"graph", job.graph},
                     {"model", job.model},
                     {"engine", job.engine},
                     {"folder", job.folder},
                     {"threads", job.threads},
                     {"domain", domain_to_json(job.domain)},
                     {"samples", samples_to_json(job.samples)}};
  COLLAGE_TRY(const Json answer, ask(worker, json, 300s, std::move(stop)));
  return read_json("compile-model answer", [&] { return answer.at("artifact").get<std::string>(); });
}

Result<std::vector<double>> step_effects(WorkerProcess& worker, const StepEffectsRequest& request) {
  COLLAGE_TRY(const Json answer, ask(worker, to_json(request), 300s));
  return read_json("step-effects answer", [&] {
    std::vector<double> shares;
    for (const Json& share : answer.at("shares")) shares.push_back(share_in(share));
    return shares;
  });
}

Result<std::vector<ConfirmLane>> confirm(WorkerProcess& worker, const ConfirmRequest& request, std::stop_token stop,
                                         std::chrono::nanoseconds patience) {
  COLLAGE_TRY(const Json answer, ask(worker, to_json(request), patience, std::move(stop)));
  return confirm_lanes_from(answer);
}

}  // namespace collage
