#include "measure/jobs.h"

#include <algorithm>

namespace collage {
namespace {

std::string_view name_of(Effort effort) {
  switch (effort) {
    case Effort::kCompile:
      return "compile";
    case Effort::kPrepare:
      return "prepare";
    case Effort::kSample:
      return "sample";
    case Effort::kTime:
      return "time";
  }
  return "";
}

Effort effort_from(const std::string& name) {
  if (name == "compile") return Effort::kCompile;
  if (name == "sample") return Effort::kSample;
  return name == "prepare" ? Effort::kPrepare : Effort::kTime;
}

Json options_to_json(const CompileOptions& options) {
  return {{"threads", options.threads},
          {"accuracy", std::string(name_of(options.accuracy))},
          {"portable", options.portable},
          {"linkable", options.linkable}};
}

CompileOptions options_from(const Json& json) {
  return {.threads = json.at("threads").get<int>(),
          .accuracy = accuracy_of(json.at("accuracy").get<std::string>()).value_or(Accuracy::kStandard),
          .portable = json.at("portable").get<bool>(),
          .linkable = json.at("linkable").get<bool>()};
}

Json target_to_json(const PriceTarget& target) {
  return {{"graph", target.graph_file},
          {"record", target.record_file},
          {"nodes", target.nodes},
          {"repeated", target.repeated},
          {"conversion", to_json(target.conversion)}};
}

PriceTarget target_from(const Json& json) {
  return {.graph_file = json.at("graph").get<std::string>(),
          .record_file = json.at("record").get<std::string>(),
          .nodes = json.at("nodes").get<std::vector<std::uint32_t>>(),
          .repeated = json.at("repeated").get<std::vector<std::uint32_t>>(),
          .conversion = conversion_from(json.at("conversion"))};
}

Json timing_to_json(const PriceTiming& timing) {
  return {{"quiet_ns", timing.quiet_ns}, {"displaced_bytes", timing.displaced_bytes}};
}

PriceTiming timing_from(const Json& json) {
  return {.quiet_ns = json.at("quiet_ns").get<std::int64_t>(),
          .displaced_bytes = json.at("displaced_bytes").get<std::int64_t>()};
}

Json judging_to_json(const PriceJudging& judging) {
  return {{"seed", judging.seed}, {"recorded_only", judging.recorded_only}, {"verified", judging.verified}};
}

PriceJudging judging_from(const Json& json) {
  return {.seed = json.at("seed").get<std::uint64_t>(),
          .recorded_only = json.at("recorded_only").get<bool>(),
          .verified = json.at("verified").get<std::vector<bool>>()};
}

Json spec_to_json(const CandidateSpec& candidate) {
  return {
      {"backend", candidate.backend}, {"variant", to_json(candidate.variant)}, {"labels", to_json(candidate.labels)}};
}

CandidateSpec spec_from(const Json& json) {
  return {.backend = json.at("backend").get<std::string>(),
          .variant = variant_from(json.at("variant")),
          .labels = labels_from(json.at("labels"))};
}

}  // namespace

std::vector<RegionLabel> labels_of(const Region& region, std::span<const Match> matches) {
  std::vector<RegionLabel> labels;
  for (const Match& match : matches) {
    RegionLabel& label = labels.emplace_back(RegionLabel{.label = match.label, .nodes = {}});
    std::uint32_t position = 0;
    for (const std::size_t node : region.nodes.members()) {
      if (match.nodes.contains(node)) label.nodes.push_back(position);
      ++position;
    }
  }
  return labels;
}

std::vector<Match> matches_of(const Region& region, std::span<const RegionLabel> labels) {
  const std::vector<std::size_t> nodes = region.nodes.members();
  std::vector<Match> matches;
  for (const RegionLabel& label : labels) {
    Match match{.label = label.label, .nodes = NodeSet(region.nodes.universe())};
    if (std::ranges::any_of(label.nodes, [&](std::uint32_t position) { return position >= nodes.size(); })) continue;
    for (const std::uint32_t position : label.nodes) match.nodes.insert(nodes[position]);
    matches.push_back(std::move(match));
  }
  return matches;
}

Json to_json(const std::vector<RegionLabel>& labels) {
  Json json = Json::array();
  for (const RegionLabel& label : labels) json.push_back({{"label", label.label}, {"nodes", label.nodes}});
  return json;
}

std::vector<RegionLabel> labels_from(const Json& json) {
  std::vector<RegionLabel> labels;
  for (const Json& label : json)
    labels.push_back(
        {.label = label.at("label").get<std::string>(), .nodes = label.at("nodes").get<std::vector<std::uint32_t>>()});
  return labels;
}

Json to_json(const std::optional<Conversion>& conversion) {
  if (!conversion) return nullptr;
  return {{"type", to_string(conversion->type)},
          {"from", conversion->from.format.name},
          {"to", conversion->to.format.name},
          {"from_location", conversion->from.location},
          {"to_location", conversion->to.location}};
}

std::optional<Conversion> conversion_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  auto type = parse_value_type(json.at("type").get<std::string>());
  const auto place = [&](const char* location, const char* format) {
    return Place{.location = json.at(location).get<std::string>(), .format = {json.at(format).get<std::string>()}};
  };
  return Conversion{
      .type = type.value_or(ValueType{}), .from = place("from_location", "from"), .to = place("to_location", "to")};
}

Json to_json(const RecordJob& job) {
  Json json = {{"type", "record"},          {"graph", job.graph_file}, {"inputs", job.inputs_file},
               {"record", job.record_file}, {"backend", job.backend},  {"all_values", job.all_values},
               {"slacks", job.slacks},      {"threads", job.threads}};
  if (job.model_file) json["model"] = *job.model_file;
  return json;
}

Result<RecordJob> record_job_from(const Json& json) {
  return read_json("record job", [&] {
    RecordJob job{.graph_file = json.at("graph").get<std::string>(),
                  .inputs_file = json.at("inputs").get<std::string>(),
                  .record_file = json.at("record").get<std::string>(),
                  .backend = json.at("backend").get<std::string>(),
                  .all_values = json.at("all_values").get<bool>(),
                  .threads = json.at("threads").get<int>(),
                  .slacks = json.at("slacks").get<bool>()};
    if (json.contains("model")) job.model_file = json["model"].get<std::string>();
    return job;
  });
}

Json to_json(const PriceJob& job) {
  Json candidates = Json::array();
  for (const CandidateSpec& candidate : job.candidates) candidates.push_back(spec_to_json(candidate));
  return {{"type", job.effort == Effort::kPrepare ? "prepare" : "price"},
          {"target", target_to_json(job.target)},
          {"candidates", candidates},
          {"compiled", job.compiled},
          {"options", options_to_json(job.options)},
          {"artifacts", job.artifact_folder},
          {"effort", std::string(name_of(job.effort))},
          {"timing", timing_to_json(job.timing)},
          {"judging", judging_to_json(job.judging)}};
}

Result<PriceJob> price_job_from(const Json& json) {
  return read_json("price job", [&] {
    PriceJob job{.target = target_from(json.at("target")),
                 .candidates = {},
                 .compiled = json.at("compiled").get<std::vector<std::string>>(),
                 .options = options_from(json.at("options")),
                 .artifact_folder = json.at("artifacts").get<std::string>(),
                 .effort = effort_from(json.at("effort").get<std::string>()),
                 .timing = timing_from(json.at("timing")),
                 .judging = judging_from(json.at("judging"))};
    for (const Json& candidate : json.at("candidates")) job.candidates.push_back(spec_from(candidate));
    return job;
  });
}

Json to_json(const PriceAnswer& answer) {
  Json candidates = Json::array();
  for (const CandidateAnswer& candidate : answer.candidates)
    candidates.push_back({{"cost", to_json(candidate.cost)},
                          {"artifact", candidate.artifact},
                          {"samples_ns", candidate.samples.ns},
                          {"warm_ns", candidate.samples.warm_ns},
                          {"stage", candidate.stage}});
  return {{"candidates", candidates}, {"harmed", answer.harmed}, {"quiet_ns", answer.quiet_ns}};
}

Result<PriceAnswer> price_answer_from(const Json& json) {
  return read_json("price answer", [&] {
    PriceAnswer answer{.harmed = json.at("harmed").get<bool>(), .quiet_ns = json.at("quiet_ns").get<std::int64_t>()};
    for (const Json& candidate : json.at("candidates"))
      answer.candidates.push_back({.cost = cost_from(candidate.at("cost")),
                                   .artifact = candidate.at("artifact").get<std::string>(),
                                   .samples = {.ns = candidate.at("samples_ns").get<std::vector<std::int64_t>>(),
                                               .warm_ns = candidate.at("warm_ns").get<std::int64_t>()},
                                   .stage = candidate.at("stage").get<std::string>()});
    return answer;
  });
}

}  // namespace collage
