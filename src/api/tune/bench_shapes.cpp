#include "api/tune/bench_shapes.h"

#include <cmath>

#include <fmt/format.h>

#include "api/tune/shape_choice.h"
#include "base/clock.h"
#include "base/json_numbers.h"
#include "plan/file/cases_file.h"
#include "plan/file/plan_file.h"

namespace collage {
namespace {

std::string wrong_text(const BenchContender& one) {
  return fmt::format("WRONG NUMBERS, output {}, max abs {:.3g}", one.numbers.output, one.numbers.max_abs);
}

std::string row(const BenchReport& report) {
  std::string text = fmt::format("{:<28} {:>12.1f}", report.shape, to_us(report.contenders.front().lane.median_ns()));
  for (std::size_t i = 0; i < report.ratios.size(); ++i) {
    const Ratio& ratio = report.ratios[i].ratio;
    text += fmt::format("   {} {:.1f}: ", report.ratios[i].against, to_us(report.contenders[i + 1].lane.median_ns()));
    text += report.ratios[i].counts ? fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio.ratio, ratio.low, ratio.high)
                                    : wrong_text(report.contenders[i + 1]);
  }
  if (has_wrong_plan(report)) text += "   the plan: " + wrong_text(report.contenders.front());
  return text + "\n";
}

/// Geometric mean over the shapes, by rival.
std::map<std::string, double> mean_ratios(const std::vector<BenchReport>& reports) {
  std::map<std::string, std::pair<double, std::size_t>> logs;
  for (const BenchReport& report : reports)
    for (const BenchRatio& ratio : report.ratios) {
      if (!ratio.counts || has_wrong_plan(report)) continue;
      auto& [sum, count] = logs[ratio.against];
      sum += std::log(ratio.ratio.ratio);
      ++count;
    }
  std::map<std::string, double> means;
  for (const auto& [name, sum] : logs) means[name] = std::exp(sum.first / static_cast<double>(sum.second));
  return means;
}

}  // namespace

Result<std::vector<BenchReport>> bench_shapes(const BenchOptions& options, Registry& registry) {
  std::vector<BenchReport> reports;
  if (!is_plan_file(options.plan) || !options.shapes.entries.empty()) {
    COLLAGE_TRY(reports.emplace_back(), bench(options, registry));
    return reports;
  }
  COLLAGE_TRY(const PlanCases cases, load_cases(options.plan, Checked::kWhatRuns, options.signers));
  COLLAGE_TRY(std::vector<ShapePoint> points, choose_points(cases, {}));
  if (points.empty()) points = points_between(cases);
  for (const ShapePoint& point : points) {
    BenchOptions at = options;
    at.shapes = bindings_at({}, cases.domain, point);
    at.seconds = options.seconds / static_cast<double>(points.size());
    COLLAGE_TRY(reports.emplace_back(), bench(at, registry));
    if (options.stop.stop_requested()) break;
  }
  return reports;
}

std::string to_text(const std::vector<BenchReport>& reports) {
  if (reports.size() == 1) return to_text(reports.front());
  if (reports.empty()) return "no shape was run\n";
  std::string text = fmt::format("{}, {} shapes\n{:<28} {:>12}   rivals, and how much faster the plan is\n",
                                 reports.front().model, reports.size(), "shape", "collage us");
  for (const BenchReport& report : reports) text += row(report);
  for (const auto& [name, ratio] : mean_ratios(reports))
    text += fmt::format("geometric mean against {}: {:.2f}x\n", name, ratio);
  if (reports.back().interrupted) text += "stopped by a signal: the last shape has few rounds, others may be missing\n";
  for (const BenchReport& report : reports)
    for (const std::string& note : report.notes) text += fmt::format("note: {}: {}\n", report.shape, note);
  return text;
}

std::string to_json(const std::vector<BenchReport>& reports) {
  if (reports.size() == 1) return to_json(reports.front());
  nlohmann::ordered_json object = {{"schema", "collage.bench-shapes/1"}};
  object["shapes"] = nlohmann::ordered_json::array();
  for (const BenchReport& report : reports) object["shapes"].push_back(nlohmann::ordered_json::parse(to_json(report)));
  object["ratios"] = mean_ratios(reports);
  object["interrupted"] = !reports.empty() && reports.back().interrupted;
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace collage
