// The report of a bench for people and for tools.
#include <fmt/format.h>

#include "api/tune/bench.h"
#include "base/clock.h"
#include "base/json_numbers.h"

namespace collage {
namespace {

std::string text_of(const Ratio& ratio) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio.ratio, ratio.low, ratio.high);
}

/// Only who runs a plan has its stored form; others wait for a session made from the model. Empty without engines.
std::string sessions_text(const std::vector<BenchContender>& contenders) {
  std::string text;
  for (const BenchContender& one : contenders)
    if (one.session_ms) text += fmt::format("{}{} {:.1f} ms", text.empty() ? "" : ", ", one.name, *one.session_ms);
  return text.empty() ? text : "from the model's file a session takes: " + text + "\n";
}

nlohmann::ordered_json json_of(const NumbersCheck& check) {
  nlohmann::ordered_json object = {{"verdict", name_of(check.verdict)}};
  if (check.verdict == NumbersCheck::Verdict::kUnchecked) return object;
  object["output"] = check.output;
  object["max_abs"] = check.max_abs;
  object["max_rel"] = check.max_rel;
  object["detail"] = check.detail;
  return object;
}

nlohmann::ordered_json json_of(const BenchRatio& one) {
  return {{"against", one.against},
          {"ratio", one.ratio.ratio},
          {"low", one.ratio.low},
          {"high", one.ratio.high},
          {"counts", one.counts}};
}

}  // namespace

std::string to_text(const BenchReport& report) {
  std::string text = fmt::format("{}{}, {} thread{}\n", report.model, report.shape.empty() ? "" : " at " + report.shape,
                                 report.threads, report.threads == 1 ? "" : "s");
  text += fmt::format("{} rounds of each\n", report.contenders.front().lane.samples_ns.size());
  text += fmt::format("{:<12} {:<8} {:<6} {:>7} {:>10} {:>10}  {}\n", "contender", "version", "types", "load ms",
                      "median us", "p90 us", "collage is faster by");
  for (std::size_t i = 0; i < report.contenders.size(); ++i) {
    const BenchContender& c = report.contenders[i];
    const bool is_long = c.name.size() > 12;  // the path of a plan
    if (is_long) text += c.name + "\n";
    text += fmt::format("{:<12} {:<8} {:<6} {:>7.1f} {:>10.1f} {:>10.1f}", is_long ? "" : c.name,
                        c.version == "cover" ? "mixed" : c.version.substr(0, 8), c.precision, c.load_ms,
                        to_us(c.lane.median_ns()), to_us(c.lane.quantile_ns(0.9)));
    if (c.numbers.is_wrong())
      text += "  WRONG NUMBERS";
    else if (i > 0)
      text += "  " + text_of(report.ratios[i - 1].ratio);
    text += "\n";
    if (c.numbers.is_wrong())
      text += fmt::format("  output {}: {};\n  max abs {:.3g}, max rel {:.3g}\n", c.numbers.output, c.numbers.detail,
                          c.numbers.max_abs, c.numbers.max_rel);
    if (!c.note.empty()) text += "  " + c.note + "\n";
  }
  text += sessions_text(report.contenders);
  if (const BenchRatio* best = best_rival(report))
    text += fmt::format("against the best rival, {}: {}\n", best->against, text_of(best->ratio));
  if (report.interrupted)
    text += fmt::format("stopped by a signal after {} rounds, before its time was over\n",
                        report.contenders.front().lane.samples_ns.size());
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text;
}

std::string to_json(const BenchReport& report) {
  nlohmann::ordered_json object = {{"schema", "collage.bench/1"}, {"model", report.model}, {"threads", report.threads}};
  if (!report.shape.empty()) object["shape"] = report.shape;
  object["contenders"] = nlohmann::ordered_json::array();
  for (const BenchContender& c : report.contenders) {
    nlohmann::ordered_json samples = nlohmann::ordered_json::array();
    for (std::int64_t ns : c.lane.samples_ns) samples.push_back(to_us(ns));
    object["contenders"].push_back(
        {{"name", c.name},
         {"version", c.version},
         {"load_ms", c.load_ms},
         {"session_ms", c.session_ms ? nlohmann::ordered_json(*c.session_ms) : nlohmann::ordered_json()},
         {"median_us", to_us(c.lane.median_ns())},
         {"p90_us", to_us(c.lane.quantile_ns(0.9))},
         {"samples", samples},
         {"precision", c.precision},
         {"numbers", json_of(c.numbers)},
         {"note", c.note}});
  }
  object["ratios"] = nlohmann::ordered_json::array();
  for (const BenchRatio& r : report.ratios) object["ratios"].push_back(json_of(r));
  const BenchRatio* best = best_rival(report);
  object["best_rival"] = best != nullptr ? json_of(*best) : nlohmann::ordered_json();
  object["interrupted"] = report.interrupted;
  object["notes"] = report.notes;
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace collage
