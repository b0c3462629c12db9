#include <fmt/format.h>

#include "base/json_numbers.h"
#include "tune/shapes/tune_shapes.h"

namespace collage {
namespace {

/// Of all points together; a signal comes at one of them.
Ended ended_of(const ShapesReport& report) {
  Ended all;
  for (const ShapeReport& one : report.cases) {
    const Ended& ended = one.report.ended;
    if (ended.why != Ending::kComplete) all.why = Ending::kBudget;
    all.not_needed += ended.not_needed;
    all.out_of_time += ended.out_of_time;
    all.not_before_stop += ended.not_before_stop;
  }
  if (report.interrupted) all.why = Ending::kInterrupted;
  return all;
}

std::string ended_text(const ShapesReport& report) {
  const Ended ended = ended_of(report);
  if (ended.why != Ending::kInterrupted) return to_text(ended);
  return fmt::format("stopped by a signal: {} shapes have plans of their own, {} candidates have no time\n",
                     report.cases.size(), ended.unmeasured());
}

/// The backends of the steps, with how many each runs.
std::string who(const TuneReport& report) {
  std::string text;
  for (const auto& [name, steps] : report.backends)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, steps);
  return text;
}

}  // namespace

std::string to_text(const ShapesReport& report) {
  std::string text =
      fmt::format("{}: {} shapes of {}, {}; {:.1f} s\n", report.plan, report.cases.size(), to_string(report.domain),
                  report.generic.empty() ? "no other" : "all others by " + report.generic, report.tune_s);
  text += fmt::format("{:<28} {:>12} {:>12} {:>8}   {}\n", "shape", "us", "generic us", "gain", "steps");
  for (const ShapeReport& one : report.cases) {
    const double gain = one.case_us > 0 ? one.generic_us / one.case_us : 0;
    text += fmt::format("{:<28} {:>12.1f} {:>12.1f} {:>7.2f}x   {}\n", to_string(report.domain, one.sample.point),
                        one.case_us, one.generic_us, gain, who(one.report));
  }
  if (!report.generic_times.empty()) text += "with open dimensions, in the geometric mean of these shapes\n";
  for (const auto& [name, us] : report.generic_times) text += fmt::format("  {:>10.1f} us  {}\n", us, name);
  text += ended_text(report);
  for (const ShapeReport& one : report.cases)
    for (const std::string& note : one.report.notes)
      text += fmt::format("note: {}: {}\n", to_string(report.domain, one.sample.point), note);
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text;
}

std::string to_json(const ShapesReport& report) {
  using nlohmann::ordered_json;
  ordered_json domain = ordered_json::array();
  for (const DimensionRange& range : report.domain.dimensions)
    domain.push_back({{"name", range.name}, {"low", range.low}, {"high", range.high}});
  ordered_json cases = ordered_json::array();
  for (const ShapeReport& one : report.cases) {
    ordered_json extents = ordered_json::object();
    for (std::size_t d = 0; d < one.sample.point.size(); ++d)
      extents[report.domain.dimensions[d].name] = one.sample.point[d];
    cases.push_back({{"extents", extents},
                     {"weight", one.sample.weight},
                     {"asked", one.sample.is_asked},
                     {"case_us", one.case_us},
                     {"generic_us", one.generic_us},
                     {"tune", ordered_json::parse(to_json(one.report))}});
  }
  const ordered_json object = {{"schema", "collage.tune-shapes/1"},
                               {"plan", report.plan},
                               {"model", report.model},
                               {"threads", report.threads},
                               {"tune_s", report.tune_s},
                               {"domain", domain},
                               {"cases", cases},
                               {"generic", report.generic},
                               {"generic_times_us", report.generic_times},
                               {"ended", name_of(ended_of(report).why)},
                               {"unmeasured", ended_of(report).unmeasured()},
                               {"interrupted", report.interrupted},
                               {"notes", report.notes}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace collage
