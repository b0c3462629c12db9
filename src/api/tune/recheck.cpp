#include "api/tune/recheck.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/work_folder.h"
#include "plan/file/cases_file.h"
#include "plan/file/plan_file.h"
#include "runtime/executable.h"
#include "sandbox/import_job.h"
#include "timing/machine.h"
#include "worker/worker_process.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 300s;

MachineVerdict verdict_here(const Plan& plan, Registry& registry) {
  return judge_machine(
      plan, [&registry](const std::string& name) { return registry.get(name); }, machine_print());
}

Result<std::vector<RecheckedPart>> parts_from(const Json& list) {
  return read_json("recheck answer", [&] {
    std::vector<RecheckedPart> parts;
    for (const Json& entry : list) {
      RecheckedPart part;
      part.what = entry.at("what").get<std::string>();
      if (!entry.at("step").is_null()) part.step = entry.at("step").get<std::size_t>();
      part.backend = entry.at("backend").get<std::string>();
      part.variant = entry.at("variant").get<std::string>();
      part.then_ns = entry.at("then_ns").get<std::int64_t>();
      part.now_ns = entry.at("now_ns").get<std::int64_t>();
      part.failure = entry.at("failure").get<std::string>();
      parts.push_back(std::move(part));
    }
    return parts;
  });
}

/// Plans of many shapes have no step that was timed for all of them.
Result<void> check_one_shape(const std::string& path, const Signers& signers) {
  COLLAGE_TRY(const PlanCases cases, load_cases(path, Checked::kWhatRuns, signers));
  if (cases.domain.dimensions.empty()) return {};
  return fail(ExitCode::kUnsupported, "recheck/many-shapes", path, "a plan that serves " + to_string(cases.domain),
              "a plan of one shape: tune again for one of these, or bench this plan");
}

void refuse(RecheckReport& report, std::string why) {
  report.fitness = Fitness::kRefused;
  report.cannot_run = true;
  report.notes.push_back(std::move(why));
}

/// The verdict on the steps; where none could be compared, on the whole plan.
void judge_parts(RecheckReport& report) {
  std::vector<PartTime> steps;
  std::vector<PartTime> whole;
  for (const RecheckedPart& part : report.parts)
    if (part.then_ns > 0 && part.now_ns > 0)
      (part.step ? steps : whole).push_back({.then_ns = part.then_ns, .now_ns = part.now_ns});
  report.times = judge_times(steps.empty() ? whole : steps);
  report.fitness = report.times.fitness;
  const TimesVerdict all = judge_times(whole);
  report.fitness = std::max(report.fitness, all.fitness);
  const bool has_broken_step =
      std::ranges::any_of(report.parts, [](const RecheckedPart& part) { return !part.failure.empty(); });
  if (has_broken_step) report.fitness = Fitness::kRetune;
  if (steps.empty() && whole.empty())
    report.notes.emplace_back("nothing could be timed: the verdict rests on the numbers alone");
}

Result<void> take_answer(const Json& answer, RecheckReport& report) {
  COLLAGE_TRY(const std::string failure,
              read_json("recheck answer", [&] { return answer.at("failure").get<std::string>(); }));
  if (!failure.empty()) {
    refuse(report, "it does not load here: " + failure);
    return {};
  }
  COLLAGE_TRY(report.numbers, read_json("recheck answer", [&] {
                return static_cast<Numbers>(std::clamp(answer.at("numbers").get<int>(), 0, 2));
              }));
  COLLAGE_TRY(const auto notes,
              read_json("recheck answer", [&] { return answer.at("notes").get<std::vector<std::string>>(); }));
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  COLLAGE_TRY(report.parts, parts_from(answer.at("parts")));
  judge_parts(report);
  if (report.numbers == Numbers::kDifferent) report.fitness = Fitness::kRefused;
  return {};
}

Result<void> measure(const RecheckOptions& options, RecheckReport& report) {
  COLLAGE_TRY(const WorkFolder folder, WorkFolder::create());
  Json job = {{"type", "recheck"},
              {"plan", options.plan},
              {"seed", options.seed},
              {"folder", folder.path()},
              {"reader", options.reader.worker},
              {"limits", to_json(options.reader.limits)}};
  if (options.model) job["model"] = *options.model;
  for (const PublicKey& key : options.signers) job["signers"].push_back(to_pem(key));
  WorkerProcess worker(options.worker_command);
  const auto outcome = worker.call(
      job, [](const std::optional<JobProgress>&) { return std::chrono::nanoseconds(kPatience); }, options.stop);
  report.measured = true;
  if (!outcome && outcome.error().stopped)
    return fail(ExitCode::kInterrupted, "measure/stopped", "worker", "a request to stop");
  if (!outcome) {
    refuse(report, "it brings its process down: " + outcome.error().refusal.detail);
    return {};
  }
  if (!*outcome) return std::unexpected(outcome->error());
  return take_answer(**outcome, report);
}

std::string text_of(const RecheckedPart& part) {
  if (!part.failure.empty()) return fmt::format("  {}: {}\n", part.what, part.failure);
  if (part.then_ns == 0 || part.now_ns == 0) return fmt::format("  {}: {:.1f} us\n", part.what, to_us(part.now_ns));
  const double ratio = static_cast<double>(part.now_ns) / static_cast<double>(part.then_ns);
  const std::string slower = ratio > 1 + kSameShare ? "  slower" : "";
  return fmt::format("  {}: {:.1f} us, was {:.1f} us, {:.2f}x{}\n", part.what, to_us(part.now_ns), to_us(part.then_ns),
                     ratio, slower);
}

}  // namespace

std::string_view name_of(Numbers numbers) {
  switch (numbers) {
    case Numbers::kNotChecked:
      return "not checked";
    case Numbers::kEqual:
      return "equal";
    case Numbers::kDifferent:
      return "different";
  }
  return "";
}

Result<RecheckReport> recheck(const RecheckOptions& options, Registry& registry) {
  COLLAGE_TRY_VOID(check_one_shape(options.plan, options.signers));
  COLLAGE_TRY(const RealisedPlan plan, load_plan(options.plan, Checked::kEverything, options.signers));
  const MachineVerdict verdict = verdict_here(plan.plan, registry);
  RecheckReport report;
  report.plan = options.plan;
  report.differences = verdict.reasons;
  if (verdict.kind == MachineVerdict::Kind::kRefused)
    refuse(report, "it needs what is not here");
  else if (verdict.kind == MachineVerdict::Kind::kUsable || options.always)
    COLLAGE_TRY_VOID(measure(options, report));
  return report;
}

std::string recheck_hint(const std::string& path, const Plan& plan, Registry& registry) {
  const MachineVerdict verdict = verdict_here(plan, registry);
  if (verdict.kind != MachineVerdict::Kind::kUsable) return {};
  return fmt::format("note: {} was tuned elsewhere: {}; collage recheck '{}' says whether it still fits", path,
                     fmt::join(verdict.reasons, "; "), path);
}

std::string to_text(const RecheckReport& report) {
  std::string text = fmt::format(
      "{}: {}{}\n", report.plan, name_of(report.fitness),
      report.measured || report.fitness == Fitness::kRefused ? "" : ", machine and builds are those it was tuned with");
  for (const std::string& difference : report.differences) text += "  " + difference + "\n";
  if (report.measured) text += fmt::format("numbers: {}\n", name_of(report.numbers));
  if (!report.parts.empty())
    text += fmt::format("times: {:.2f}x in general, {:.0f} % lost in parts that fell behind\n", report.times.speed,
                        100 * report.times.lost);
  for (const RecheckedPart& part : report.parts) text += text_of(part);
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text;
}

std::string to_json(const RecheckReport& report) {
  nlohmann::ordered_json object = {{"schema", "collage.recheck/1"},      {"plan", report.plan},
                                   {"verdict", name_of(report.fitness)}, {"measured", report.measured},
                                   {"differences", report.differences},  {"numbers", name_of(report.numbers)},
                                   {"speed", report.times.speed},        {"lost_share", report.times.lost}};
  object["parts"] = nlohmann::ordered_json::array();
  for (const RecheckedPart& part : report.parts)
    object["parts"].push_back({{"what", part.what},
                               {"step", part.step ? nlohmann::ordered_json(*part.step) : nullptr},
                               {"backend", part.backend},
                               {"variant", part.variant},
                               {"then_us", to_us(part.then_ns)},
                               {"now_us", to_us(part.now_ns)},
                               {"failure", part.failure}});
  object["notes"] = report.notes;
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace collage
