#include "tune/rehearsal.h"

#include <fmt/format.h>

#include "base/file.h"
#include "numbers/graph_file.h"
#include "numbers/recorded_extents.h"
#include "region/pool_json.h"
#include "region/value_json.h"
#include "tune/proposers.h"
#include "worker/process_state.h"
#include "worker/resource_check.h"

namespace collage {
namespace {

std::optional<Refusal> refuse(RefusalReason reason, std::string detail) {
  return Refusal{.reason = reason, .detail = std::move(detail)};
}

/// What an instance says of itself must be so, and stay so.
std::optional<Refusal> judge_info(const BackendInfo& first, const BackendInfo& later, const std::string& name) {
  if (first.name != later.name || first.build != later.build || first.unusable != later.unusable)
    return refuse(RefusalReason::kStructure, "says now this, now that of itself");
  if (first.kind != name.substr(0, name.find(':')))
    return refuse(RefusalReason::kStructure, "says it is of kind '" + first.kind + "'");
  return std::nullopt;
}

std::optional<Refusal> probe(Registry& registry, const std::string& name) {
  const auto made = registry.inspect(name);
  if (!made) return std::nullopt;
  const BackendInfo first = (*made)->info();
  if (!first.unusable.empty()) return std::nullopt;
  const auto asked = guard([&] {
    (void)(*made)->rules();
    return knows_vendor_operator(registry, {&name, 1}, "com.microsoft", "Gelu");
  });
  if (!asked) return refuse(RefusalReason::kCompile, "threw when asked what it takes: " + asked.error());
  return judge_info(first, (*made)->info(), name);
}

/// Of one instance.
struct Outcome {
  std::optional<Refusal> refusal = std::nullopt;
  std::optional<CandidatePool> pool = std::nullopt;  ///< nothing of an instance that is not there
};

/// Asks about one node often enough to see what grows.
std::optional<Refusal> check_growth(const Backend& backend, const Graph& graph, const Uses& uses,
                                    const CompileOptions& options) {
  NodeSet one(graph.nodes.size());
  one.insert(0);
  const Region region = make_region(graph, uses, std::move(one));
  return check_resources(usage_now(), options.threads, [&]() -> Result<void> {
    (void)guarded_support(backend, graph, region, options);
    return {};
  });
}

Outcome propose_to(Registry& registry, const std::string& name, const Graph& graph, const CompileOptions& options) {
  if (!registry.get(name) || graph.nodes.empty()) return {};
  const Graph before = graph;
  const Uses uses = uses_of(graph);
  auto pool = guard([&]() -> std::optional<CandidatePool> {
    const auto proposers = make_proposers(registry, {&name, 1}, graph, options);
    if (!proposers) return std::nullopt;
    return propose(graph, uses, *proposers);
  });
  if (!pool) return {.refusal = refuse(RefusalReason::kCompile, "threw while proposing: " + pool.error())};
  const Backend& backend = **registry.get(name);
  if (auto grows = check_growth(backend, graph, uses, options)) return {.refusal = std::move(grows)};
  if (graph != before) return {.refusal = refuse(RefusalReason::kWrongResult, "changed the graph it was asked about")};
  return {.refusal = judge_info(backend.info(), backend.info(), name), .pool = *std::move(pool)};
}

/// The file's name; "" without a pool, or when it cannot be written: then the tuner asks itself.
std::string keep_proposals(const Outcome& outcome, const std::string& file) {
  if (outcome.refusal || !outcome.pool) return {};
  const std::vector<std::uint8_t> bytes = Json::to_cbor(to_json(*outcome.pool));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return write_file(file, text) ? file : std::string();
}

Json to_json(const std::optional<Refusal>& refusal) { return refusal ? collage::to_json(*refusal) : Json(nullptr); }

Result<Json> run_rehearsal(const Json& json, JobContext& context) {
  COLLAGE_TRY(
      const RehearsalRequest job, read_json("rehearsal", [&] {
        return RehearsalRequest{
            .backends = json.at("backends").get<std::vector<std::string>>(),
            .graph_file = json.at("graph").get<std::string>(),
            .record_file = json.at("record").get<std::string>(),
            .folder = json.at("folder").get<std::string>(),
            .compile = {.threads = json.at("threads").get<int>(),
                        .accuracy = accuracy_of(json.at("accuracy").get<std::string>()).value_or(Accuracy::kStandard),
                        .linkable = json.at("linkable").get<bool>()},
            .stop = {}};
      }));
  Graph graph;
  if (!job.graph_file.empty()) {
    COLLAGE_TRY(graph, read_graph_file(job.graph_file));
  }
  if (!job.record_file.empty()) {
    COLLAGE_TRY(const Record record, Record::open(job.record_file));
    COLLAGE_TRY_VOID(note_recorded_extents(record, graph));
  }
  StateWatch watch;
  Json answers = Json::array();
  for (std::size_t b = 0; b < job.backends.size(); ++b) {
    const std::string& name = job.backends[b];
    context.begin(job.graph_file.empty() ? "probe" : "propose", static_cast<std::int32_t>(b));
    Outcome outcome = job.graph_file.empty() ? Outcome{.refusal = probe(context.registry(), name)}
                                             : propose_to(context.registry(), name, graph, job.compile);
    const std::string changed = watch.settle();
    if (!outcome.refusal && !changed.empty())
      outcome.refusal = refuse(RefusalReason::kWrongResult, "changed the process: " + changed);
    const std::string file =
        job.folder.empty() ? "" : keep_proposals(outcome, fmt::format("{}/proposals-{}", job.folder, b));
    answers.push_back({{"refusal", to_json(outcome.refusal)}, {"proposals", file}});
  }
  return answers;
}

Json job_of(const RehearsalRequest& request) {
  return {{"type", "rehearse"},
          {"backends", request.backends},
          {"graph", request.graph_file},
          {"record", request.record_file},
          {"folder", request.folder},
          {"threads", request.compile.threads},
          {"accuracy", std::string(name_of(request.compile.accuracy))},
          {"linkable", request.compile.linkable}};
}

}  // namespace

Handler rehearsal_handler() { return {.type = "rehearse", .run = run_rehearsal}; }

Result<CandidatePool> read_proposals(const std::string& file, const Graph& graph, const Uses& uses) {
  COLLAGE_TRY(const Buffer bytes, Buffer::map_file(file));
  return read_json("proposals", [&] { return pool_from(Json::from_cbor(bytes.text()), graph, uses); });
}

Result<Rehearsed> rehearse(WorkerProcess& worker, const RehearsalRequest& request) {
  Rehearsed found;
  RehearsalRequest left = request;
  int unexplained = 0;
  while (!left.backends.empty()) {
    const auto outcome =
        worker.call(job_of(left), usual_allowance(request.limit, request.limit, request.limit), request.stop);
    if (!outcome) {
      const Death& death = outcome.error();
      if (death.stopped) return found;
      if (death.candidate && static_cast<std::size_t>(*death.candidate) < left.backends.size()) {
        const auto guilty = left.backends.begin() + *death.candidate;
        found.refused[*guilty] = death.refusal;
        left.backends.erase(guilty);
      } else if (++unexplained == 2) {
        return fail(ExitCode::kUnsupported, "worker/died", "rehearsal", death.refusal.detail, "a worker that answers");
      }
      continue;
    }
    if (!*outcome) return std::unexpected(outcome->error());
    const Json& answers = **outcome;
    COLLAGE_TRY_VOID(read_json("rehearsal answer", [&] {
      for (std::size_t b = 0; b < left.backends.size(); ++b) {
        const Json& answer = answers.at(b);
        if (!answer.at("refusal").is_null()) found.refused[left.backends[b]] = refusal_from(answer.at("refusal"));
        const auto file = answer.at("proposals").get<std::string>();
        if (!file.empty()) found.proposals[left.backends[b]] = file;
      }
      return true;
    }));
    // Whatever they left in it stays behind.
    if (!found.refused.empty()) worker.stop();
    return found;
  }
  return found;
}

}  // namespace collage
