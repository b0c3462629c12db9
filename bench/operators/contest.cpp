#include "bench/operators/contest.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "backend/registry.h"
#include "backend/roles.h"
#include "measure/price_job.h"
#include "measure/trial.h"
#include "numbers/quantisers.h"
#include "numbers/reference_run.h"
#include "region/narrow_variant.h"
#include "timing/race.h"
#include "timing/sampling.h"

namespace collage::bench {
namespace {

/// Variants of a contender that the short round does not tell apart run in all rounds.
constexpr std::size_t kMostFinalists = 2;
constexpr double kFinalistRatio = 1.1;

/// What all backends are given and must give.
struct Subject {
  ReadyCase ready;
  Region region;
  std::vector<TrialPort> inputs;
  std::vector<TrialPort> outputs;
};

struct Lane {
  std::string contender;
  std::string text;  ///< of the variant
  std::unique_ptr<Trial> trial;
  std::int64_t quick_ns = 0;
};

std::string to_text(const Variant& variant) {
  std::string text = variant.name + " (";
  for (const Format& format : variant.input_formats) text += format.name + ' ';
  text += "->";
  for (const Format& format : variant.output_formats) text += ' ' + format.name;
  return text + ')';
}

std::string to_text(const Refusal& refusal) { return fmt::format("{}: {}", name_of(refusal.reason), refusal.detail); }

/// Variants in 16 bits, those of split floats, and the two kinds of oneDNN's convolutions, are looked at apart.
std::string contender_of(const std::string& backend, const Variant& variant) {
  if (const auto element = narrow_element_in(variant))
    return backend + std::string(*element == ElementType::kInt16 ? kFixedPoint : kFewBits);
  if (is_split(variant)) return backend + std::string(kSplit);
  if (backend != "onednn") return backend;
  return variant.name.starts_with("wino") ? "onednn winograd" : "onednn direct";
}

Result<Subject> subject_of(const OperatorCase& which, Registry& registry) {
  COLLAGE_TRY(Backend * reference, registry.get(kReferenceEngine));
  Subject subject;
  COLLAGE_TRY(subject.ready, ready_case(which));
  const Graph& graph = subject.ready.graph;
  const Uses uses = uses_of(graph);
  COLLAGE_TRY(ReferenceRun run, ReferenceRun::create(*reference, graph));
  COLLAGE_TRY(const std::vector<Tensor> expected, run.run(subject.ready.inputs));
  subject.region = whole_region(graph, uses);
  const auto port = [&](ValueId id, const std::vector<ValueId>& ids, const std::vector<Tensor>& values) {
    const auto at = static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
    return TrialPort{.port = {.name = graph.value(id).name, .type = graph.value(id).type},
                     .recorded = values.at(at),
                     .slack = step_of(graph, uses, subject.region, id)};
  };
  for (const ValueId id : subject.region.inputs) subject.inputs.push_back(port(id, graph.inputs, subject.ready.inputs));
  for (const ValueId id : subject.region.outputs) subject.outputs.push_back(port(id, graph.outputs, expected));
  return subject;
}

std::vector<TrialPort> in_formats(std::vector<TrialPort> ports, const std::vector<Format>& formats) {
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i].port.place.format = formats.at(i);
  return ports;
}

class Contest {
 public:
  Contest(const OperatorCase& which, const ContestOptions& options)
      : which_(which),
        options_(options),
        compile_{.threads = 1, .accuracy = options.few_bits ? Accuracy::kFast : Accuracy::kStandard},
        registry_(default_module_folders()),
        converter_(registry_) {
    outcome_.case_name = which.name;
  }

  Outcome run() {
    auto made = subject_of(which_, registry_);
    if (!made) {
      outcome_.error = "no reference: " + to_string(made.error());
      return std::move(outcome_);
    }
    subject_ = std::move(*made);
    for (const std::string& backend : options_.backends) enter(backend);
    if (lanes_.empty()) return std::move(outcome_);
    choose_finalists();
    time_finalists();
    return std::move(outcome_);
  }

 private:
  void enter(const std::string& name) {
    const auto backend = registry_.get(name);
    if (!backend) {
      outcome_.refusals[name] = "missing: " + backend.error().saw;
      return;
    }
    const auto offered = guard([&] { return (*backend)->support(subject_.ready.graph, subject_.region, compile_); });
    if (!offered || !*offered) {
      outcome_.refusals[name] = offered ? to_text(offered->error()) : "threw: " + offered.error();
      return;
    }
    for (const Variant& variant : **offered) enter(**backend, name, variant);
  }

  [[nodiscard]] bool is_left_out(const Backend& backend, const Variant& variant) const {
    const auto is_plain = [](const Format& format) { return format.is_plain(); };
    return options_.plain_engines && backend.info().is_engine &&
           !(std::ranges::all_of(variant.input_formats, is_plain) &&
             std::ranges::all_of(variant.output_formats, is_plain));
  }

  void enter(Backend& backend, const std::string& name, const Variant& variant) {
    if (is_left_out(backend, variant)) return;
    const std::string contender = contender_of(name, variant);
    if (variant.name == "view") {
      outcome_.refusals[contender] = "a view: nothing to time";
      return;
    }
    const CompileRequest request{
        .graph = &subject_.ready.graph, .region = subject_.region, .variant = variant, .model_bytes = {}};
    const std::int64_t begin_ns = monotonic_ns();
    const auto compiled = guard([&] { return backend.compile({&request, 1}, compile_); });
    const double seconds = static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
    if (!compiled || compiled->size() != 1)
      return failed(contender, variant, "compile: " + (compiled ? "no result" : compiled.error()));
    const auto& artifact = compiled->front();
    if (!artifact) {
      outcome_.refusals[contender] = to_text(variant) + ": " + to_text(artifact.error());
      return;
    }
    outcome_.compile_s[contender].push_back(seconds);
    TrialSpec spec{.backend = &backend,
                   .artifact = *artifact,
                   .constants = {},
                   .inputs = in_formats(subject_.inputs, variant.input_formats),
                   .outputs = in_formats(subject_.outputs, variant.output_formats),
                   .threads = compile_.threads,
                   .accuracy = compile_.accuracy};
    for (const ValueId id : artifact->constants) spec.constants.push_back(*subject_.ready.graph.value(id).constant);
    auto trial = Trial::create(std::move(spec), converter_);
    if (!trial) return failed(contender, variant, trial.error().refusal.detail);
    // Twice: the second run is of a warm kernel.
    for (int run = 0; run < 2; ++run)
      if (const auto bad = trial->check(converter_)) return failed(contender, variant, bad->refusal.detail);
    lanes_.push_back({.contender = contender,
                      .text = to_text(variant),
                      .trial = std::make_unique<Trial>(std::move(*trial)),
                      .quick_ns = 0});
  }

  void failed(const std::string& contender, const Variant& variant, const std::string& why) {
    std::string& all = outcome_.failures[contender];
    all += (all.empty() ? "" : "; ") + to_text(variant) + ": " + why;
  }

  /// Leaves the best few variants of each contender.
  void choose_finalists() {
    const SamplingSubject subject{.run = [&](std::size_t i) { return lanes_[i].trial->run(); },
                                  .now_ns = monotonic_ns,
                                  .before = [](std::size_t) {},
                                  .threads = compile_.threads};
    const auto timed = sample_all(lanes_.size(), subject, quick_sampling());
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (timed[i])
        lanes_[i].quick_ns = timed[i]->summary.median_ns;
      else
        outcome_.failures[lanes_[i].contender] += lanes_[i].text + ": run: " + timed[i].error().saw;
    }
    std::erase_if(lanes_, [](const Lane& lane) { return lane.quick_ns == 0; });
    std::ranges::stable_sort(lanes_, {}, &Lane::quick_ns);
    std::map<std::string, std::vector<std::int64_t>> kept;
    std::erase_if(lanes_, [&](const Lane& lane) {
      std::vector<std::int64_t>& times = kept[lane.contender];
      if (times.size() == kMostFinalists) return true;
      if (!times.empty() && static_cast<double>(lane.quick_ns) > kFinalistRatio * static_cast<double>(times.front()))
        return true;
      times.push_back(lane.quick_ns);
      return false;
    });
  }

  void time_finalists() {
    std::vector<collage::Contender> racers;
    for (Lane& lane : lanes_) racers.push_back({.name = lane.contender, .run = [&lane] { return lane.trial->run(); }});
    const RaceOptions options{.min_rounds = options_.rounds,
                              .max_rounds = options_.rounds,
                              .seconds = 0,
                              .most_seconds = options_.most_seconds,
                              .threads = compile_.threads,
                              .slowness = {},
                              .stop = {}};
    const auto raced = race(racers, options);
    if (!raced) {
      outcome_.error = "a run failed: " + to_string(raced.error());
      return;
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) keep_if_best(lanes_[i], (*raced)[i]);
  }

  void keep_if_best(const Lane& lane, const RaceLane& raced) {
    Contender made{.name = lane.contender,
                   .variant = lane.text,
                   .median_us = static_cast<double>(raced.median_ns()) / 1000,
                   .samples_ns = raced.samples_ns};
    const auto known = std::ranges::find(outcome_.contenders, lane.contender, &Contender::name);
    if (known == outcome_.contenders.end())
      outcome_.contenders.push_back(std::move(made));
    else if (made.median_us < known->median_us)
      *known = std::move(made);
  }

  const OperatorCase& which_;
  const ContestOptions& options_;
  const CompileOptions compile_;
  Registry registry_;
  FormatConverter converter_;
  Subject subject_;
  std::vector<Lane> lanes_;
  Outcome outcome_;
};

}  // namespace

Outcome run_contest(const OperatorCase& which, const ContestOptions& options) {
  auto outcome = guard([&] { return Contest(which, options).run(); });
  if (outcome) return *std::move(outcome);
  return Outcome{.case_name = which.name,
                 .error = "threw: " + outcome.error(),
                 .contenders = {},
                 .refusals = {},
                 .failures = {},
                 .compile_s = {}};
}

Json to_json(const Outcome& outcome) {
  Json contenders = Json::array();
  for (const Contender& contender : outcome.contenders)
    contenders.push_back({{"name", contender.name},
                          {"variant", contender.variant},
                          {"median_us", contender.median_us},
                          {"samples_ns", contender.samples_ns}});
  return {{"case", outcome.case_name},    {"error", outcome.error},       {"contenders", contenders},
          {"refusals", outcome.refusals}, {"failures", outcome.failures}, {"compile_s", outcome.compile_s}};
}

Outcome outcome_from(const Json& json) {
  Outcome outcome{.case_name = json.at("case"),
                  .error = json.at("error"),
                  .contenders = {},
                  .refusals = json.at("refusals").get<std::map<std::string, std::string>>(),
                  .failures = json.at("failures").get<std::map<std::string, std::string>>(),
                  .compile_s = json.at("compile_s").get<std::map<std::string, std::vector<double>>>()};
  for (const Json& contender : json.at("contenders"))
    outcome.contenders.push_back({.name = contender.at("name"),
                                  .variant = contender.at("variant"),
                                  .median_us = contender.at("median_us"),
                                  .samples_ns = contender.at("samples_ns").get<std::vector<std::int64_t>>()});
  return outcome;
}

}  // namespace collage::bench
