#include "api/tune/plan_list.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json_numbers.h"
#include "plan/file/cases_file.h"

namespace collage {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kEnding = ".collage";
constexpr std::size_t kMostBackends = 3;

Error no_such_path(const std::string& path) {
  return {.code = "file/missing",
          .where = path,
          .saw = "no such file or folder",
          .allowed = "a plan, or a folder",
          .exit = ExitCode::kIo};
}

/// The plan itself, or the plans in the folder and below, by name. Folders that may not be read are left out.
Result<std::vector<std::string>> files_at(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::unexpected(no_such_path(path));
  if (!fs::is_directory(path, error)) return std::vector{path};
  std::vector<std::string> files;
  const auto skipping = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(path, skipping, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->path().extension() == kEnding && at->is_regular_file(ignored)) files.push_back(at->path().string());
  }
  std::ranges::sort(files);
  return files;
}

/// Of the time of the steps, each alone.
std::map<std::string, double> shares_of(const Plan& plan) {
  std::map<std::string, double> shares;
  double sum = 0;
  for (const PlanStep& step : plan.steps) {
    shares[step.backend] += to_us(step.cost_ns);
    sum += to_us(step.cost_ns);
  }
  if (sum <= 0) return {};
  for (auto& [backend, share] : shares) share /= sum;
  std::erase_if(shares, [](const auto& entry) { return entry.second <= 0; });
  return shares;
}

std::optional<TimedPlan> hardest(const PlanReport& report) {
  std::optional<TimedPlan> hardest;
  for (const TimedPlan& plan : report.plans)
    if (plan.is_engine && plan.faster && (!hardest || plan.faster->ratio < hardest->faster->ratio)) hardest = plan;
  return hardest;
}

ListedPlan row_of(const std::string& file, const std::string& shape, const Plan& plan) {
  const PlanReport report = plan.report.value_or(PlanReport());
  const bool is_engine = plan.shipped != "cover";
  return {.file = file,
          .model = fs::path(plan.model_path).filename().string(),
          .shape = shape,
          .machine = plan.machine,
          .accuracy = plan.accuracy,
          .shipped = report.explanation ? report.explanation->plan : plan.shipped,
          .threads = plan.threads,
          .steps = count_steps(plan).steps,
          .us = report.search.measured_us,
          // Where an engine ships, the plan is as fast as that.
          .rival = is_engine ? std::nullopt : hardest(report),
          .shares = shares_of(plan)};
}

void add_rows(const std::string& file, PlanList& list) {
  const auto cases = load_cases(file, Checked::kWhatRuns);
  if (!cases) {
    list.unreadable.push_back(cases.error());
    return;
  }
  for (const PlanCase& one : cases->cases) {
    list.plans.push_back(row_of(file, to_string(cases->domain, one.point), one.plan.plan));
    if (one.measured_us > 0) list.plans.back().us = one.measured_us;
  }
}

std::string shares_text(const std::map<std::string, double>& shares) {
  std::vector<std::pair<std::string, double>> sorted(shares.begin(), shares.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& entry) { return entry.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMostBackends); ++i)
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", sorted[i].first, 100 * sorted[i].second);
  return text;
}

std::string gain_text(const ListedPlan& plan) {
  if (!plan.rival) return "-";
  const FasterBy& faster = *plan.rival->faster;
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", faster.ratio, faster.low, faster.high);
}

std::string name_in_text(const ListedPlan& plan) { return plan.file + (plan.shape.empty() ? "" : " at " + plan.shape); }

/// RFC 4180: in quotes, which are doubled inside, where it has a comma, a quote or a line break.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

Result<PlanList> list_plans(const std::vector<std::string>& paths) {
  PlanList list;
  for (const std::string& path : paths) {
    COLLAGE_TRY(const std::vector<std::string> files, files_at(path));
    for (const std::string& file : files) add_rows(file, list);
  }
  if (list.plans.empty() && list.unreadable.empty())
    return fail(ExitCode::kBadInput, "plan/nothing-found", paths.empty() ? "" : paths.front(), "no plans",
                "plan files, or folders with files that end in .collage");
  return list;
}

std::optional<double> mean_gain(const PlanList& list) {
  double sum = 0;
  std::size_t count = 0;
  for (const ListedPlan& plan : list.plans) {
    if (plan.us <= 0) continue;
    sum += plan.rival ? std::log(plan.rival->faster->ratio) : 0;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(std::exp(sum / static_cast<double>(count)));
}

std::string to_text(const PlanList& list) {
  std::string text =
      fmt::format("{:>12} {:>20}  {}\n", "us", "against engines", "plan, below: what ships, who runs it");
  for (const ListedPlan& plan : list.plans) {
    text += fmt::format("{:>12.1f} {:>20}  {}\n", plan.us, gain_text(plan), name_in_text(plan));
    text += fmt::format("{:35}{}{}{}\n", "", plan.shipped, plan.shares.empty() ? "" : ": ", shares_text(plan.shares));
  }
  if (const auto gain = mean_gain(list))
    text += fmt::format("{} plans, {:.2f}x the hardest engine in the geometric mean\n", list.plans.size(), *gain);
  for (const Error& error : list.unreadable) text += "not read: " + to_string(error) + "\n";
  return text;
}

std::string to_json(const PlanList& list) {
  ordered_json object = {{"schema", "collage.report/1"}, {"plans", ordered_json::array()}};
  for (const ListedPlan& plan : list.plans) {
    ordered_json row = {{"file", plan.file},
                        {"model", plan.model},
                        {"shape", plan.shape},
                        {"machine", plan.machine},
                        {"accuracy", plan.accuracy},
                        {"threads", plan.threads},
                        {"shipped", plan.shipped},
                        {"steps", plan.steps},
                        {"us", plan.us},
                        {"rival", nullptr},
                        {"shares", ordered_json(plan.shares)}};
    if (plan.rival)
      row["rival"] = {{"name", plan.rival->name},
                      {"ratio", plan.rival->faster->ratio},
                      {"low", plan.rival->faster->low},
                      {"high", plan.rival->faster->high}};
    object["plans"].push_back(std::move(row));
  }
  const auto gain = mean_gain(list);
  object["mean_gain"] = gain ? ordered_json(*gain) : ordered_json();
  object["unreadable"] = ordered_json::array();
  for (const Error& error : list.unreadable)
    object["unreadable"].push_back({{"file", error.where}, {"code", error.code}, {"saw", error.saw}});
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::string to_csv(const PlanList& list) {
  std::string text = "file,model,shape,threads,accuracy,shipped,steps,us,rival,ratio,low,high\r\n";
  for (const ListedPlan& plan : list.plans) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{:.1f},", csv_field(plan.file), csv_field(plan.model), csv_field(plan.shape),
                    plan.threads, plan.accuracy, csv_field(plan.shipped), plan.steps, plan.us);
    if (plan.rival)
      text += fmt::format("{},{:.3f},{:.3f},{:.3f}", csv_field(plan.rival->name), plan.rival->faster->ratio,
                          plan.rival->faster->low, plan.rival->faster->high);
    else
      text += ",,,";
    text += "\r\n";
  }
  return text;
}

}  // namespace collage
