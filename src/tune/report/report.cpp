#include "tune/report/report.h"

#include <algorithm>

#include "base/json_numbers.h"

namespace collage {
namespace {

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

nlohmann::ordered_json json_of(const ScheduleReport& report) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const TunedKernel& one : report.kernels)
    kernels.push_back({{"operators", one.operators},
                       {"backend", one.backend},
                       {"variant", one.variant},
                       {"places", one.places},
                       {"before_us", microseconds(one.before_ns)},
                       {"after_us", microseconds(one.after_ns)},
                       {"tried", one.tried},
                       {"refused", one.refused}});
  return {{"took_s", report.seconds},
          {"known", report.known},
          {"tried", report.tried},
          {"refused", report.refused},
          {"before_us", microseconds(report.before_ns)},
          {"after_us", microseconds(report.after_ns)},
          {"kernels", kernels}};
}

nlohmann::ordered_json json_of(const RivalTime& rival) {
  nlohmann::ordered_json object = {
      {"name", rival.title}, {"us", microseconds(rival.median_ns)}, {"verdict", name_of(rival.verdict)}};
  if (rival.ratio) {
    object["ratio"] = rival.ratio->ratio;
    object["low"] = rival.ratio->low;
    object["high"] = rival.ratio->high;
  }
  return object;
}

nlohmann::ordered_json json_of(const BestSoFar& best) { return {{"s", best.seconds}, {"us", best.us}}; }

nlohmann::ordered_json json_of(const RuleEffect& effect) {
  return {{"rule", effect.rule},         {"matches", effect.matches}, {"matched", effect.matched},
          {"removed", effect.removed},   {"added", effect.added},     {"steps", effect.steps},
          {"mattered", !is_idle(effect)}};
}

nlohmann::ordered_json json_of(const Ended& ended) {
  nlohmann::ordered_json object = {{"why", name_of(ended.why)},
                                   {"unmeasured", ended.unmeasured()},
                                   {"not_needed", ended.not_needed},
                                   {"out_of_time", ended.out_of_time},
                                   {"not_before_stop", ended.not_before_stop}};
  if (ended.why != Ending::kInterrupted) return object;
  object["stopped_s"] = ended.stopped_s;
  object["phase"] = ended.phase;
  return object;
}

/// Null for a plan that any backend may take part in.
nlohmann::ordered_json deploy_json(const TuneReport& report) {
  if (!report.for_library) return nullptr;
  nlohmann::ordered_json object = {{"target", "library"}};
  if (!report.library_cost) return object;
  object["fastest_other"] = report.library_cost->title;
  object["fastest_other_us"] = report.library_cost->us;
  object["ratio"] = report.library_cost->ratio;
  return object;
}

template <class T>
nlohmann::ordered_json list_of(const std::vector<T>& values) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

}  // namespace

std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::kComplete:
      return "complete";
    case Ending::kBudget:
      return "budget";
    case Ending::kInterrupted:
      return "interrupted";
  }
  return "";
}

const RivalTime* best_engine(const TuneReport& report) {
  const auto best = std::ranges::find(report.rivals, true, &RivalTime::is_engine);
  return best == report.rivals.end() ? nullptr : &*best;
}

std::string to_json(const TuneReport& report) {
  nlohmann::ordered_json rivals = nlohmann::ordered_json::object();
  for (const RivalTime& rival : report.rivals) rivals[rival.name] = static_cast<double>(rival.median_ns) / 1000;
  nlohmann::ordered_json verdicts = nlohmann::ordered_json::object();
  for (const RivalTime& rival : report.rivals) verdicts[rival.name] = name_of(rival.verdict);
  nlohmann::ordered_json predictions = nlohmann::ordered_json::array();
  for (const Prediction& one : report.predictions)
    predictions.push_back({{"cover", one.cover}, {"predicted_us", one.predicted_us}, {"measured_us", one.measured_us}});
  nlohmann::ordered_json repros = nlohmann::ordered_json::array();
  for (const KeptRepro& one : report.repros)
    repros.push_back({{"backend", one.backend},
                      {"stage", one.stage},
                      {"reason", name_of(one.refusal.reason)},
                      {"detail", one.refusal.detail},
                      {"folder", one.folder},
                      {"note", one.note}});
  nlohmann::ordered_json second_half_gain;  // null where it is not known
  if (report.second_half_gain) second_half_gain = *report.second_half_gain;
  const nlohmann::ordered_json object = {{"schema", "collage.tune/1"},
                                         {"plan", report.plan},
                                         {"model", report.model},
                                         {"threads", report.threads},
                                         {"passes_off", report.passes_off},
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
                                         {"memory_bytes", report.memory_bytes},
                                         {"steps", report.steps},
                                         {"views", report.views},
                                         {"backends", report.backends},
                                         {"shares", report.shares},
                                         {"curve", list_of(report.curve)},
                                         {"second_half_gain", second_half_gain},
                                         {"rivals", rivals},
                                         {"verdicts", verdicts},
                                         {"plans", list_of(report.rivals)},
                                         {"predictions", predictions},
                                         {"schedules", json_of(report.schedules)},
                                         {"shipped", report.shipped},
                                         {"title", report.title},
                                         {"rules", list_of(report.rules)},
                                         {"deploy", deploy_json(report)},
                                         {"repros", repros},
                                         {"ended", json_of(report.ended)},
                                         {"interrupted", report.interrupted},
                                         {"notes", report.notes}};
  // A note may quote what a dying library printed, whatever bytes that was.
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

PlanReport plan_report(const TuneReport& report, Explanation explanation) {
  PlanReport kept{.search = {.cover_us = report.cover_us,
                             .model_bound_us = report.model_bound_us,
                             .proven_bound_us = report.proven_bound_us,
                             .measured_us = report.measured_us,
                             .candidates = report.candidates},
                  .rivals = {},
                  .plans = {},
                  .explanation = std::move(explanation)};
  for (const RivalTime& rival : report.rivals) {
    kept.rivals[rival.name] = microseconds(rival.median_ns);
    TimedPlan plan{.name = rival.title, .us = microseconds(rival.median_ns), .is_engine = rival.is_engine};
    if (rival.ratio)
      plan.faster = FasterBy{.ratio = rival.ratio->ratio, .low = rival.ratio->low, .high = rival.ratio->high};
    kept.plans.push_back(std::move(plan));
  }
  return kept;
}

}  // namespace collage
