// Times the backends against each other on single operators and short chains as they stand in real models: one thread,
// one process for each case, contenders in turns. Prints Markdown: a row for each case, geometric means, goals, and the
// rows that were lost.
// Usage: operators [--cases FILE] [--class NAME] [--filter GLOB] [--backends LIST] [--of NAME] [--rounds N]
//                  [--plain-engines] [--few-bits] [--json FILE] [--list]
// Nothing else may run meanwhile. Exit code 1 when a contender gave wrong numbers or a case could not be run.
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/file.h"
#include "bench/operators/contest.h"
#include "bench/operators/report.h"
#include "tests/conformance/isolated.h"

namespace collage::bench {
namespace {

struct Options {
  std::string cases = COLLAGE_SOURCE_DIR "/bench/operators/cases.txt";
  std::string class_name;
  std::string filter = "*";
  std::string json;
  bool lists = false;
  double patience_s = 600;
  ContestOptions contest{.backends = {"native", "onednn", "onnxruntime", "openvino"}};
  ReportOptions report;
};

std::vector<std::string> columns_of(const ContestOptions& contest) {
  std::vector<std::string> columns;
  if (contest.few_bits)
    for (const std::string& backend : contest.backends)
      for (const std::string_view kind : {kFewBits, kFixedPoint, kSplit})
        columns.push_back(backend + std::string(kind));
  for (const std::string& backend : contest.backends) {
    if (backend != "onednn") {
      columns.push_back(backend);
      continue;
    }
    columns.insert(columns.end(), {"onednn direct", "onednn winograd"});
  }
  return columns;
}

/// In a child process, which first loads the libraries.
Outcome run_apart(const OperatorCase& which, const Options& options) {
  const auto work = [&](std::size_t) {
    return conformance::Outcome{.kind = conformance::Outcome::Kind::kPass,
                                .reason = {},
                                .detail = to_line(to_json(run_contest(which, options.contest)))};
  };
  const auto patience = std::chrono::milliseconds(static_cast<std::int64_t>(options.patience_s * 1000));
  const conformance::Outcome seen = conformance::run_isolated(1, work, patience).front();
  Outcome lost{
      .case_name = which.name, .error = seen.detail, .contenders = {}, .refusals = {}, .failures = {}, .compile_s = {}};
  if (seen.kind != conformance::Outcome::Kind::kPass) return lost;
  const auto json = parse_json(seen.detail, which.name);
  if (!json) return lost;
  return read_json(which.name, [&] { return outcome_from(*json); }).value_or(lost);
}

/// A crash costs this case only; the others are timed again without the one that is looked at, the likely cause.
Outcome run_guarded(const OperatorCase& which, Options options) {
  Outcome outcome = run_apart(which, options);
  if (outcome.error.empty() || std::erase(options.contest.backends, backend_of(options.report.of)) == 0) return outcome;
  Outcome others = run_apart(which, options);
  if (!others.error.empty()) return outcome;
  others.failures[options.report.of] = outcome.error;
  return others;
}

Json json_of(const std::vector<Outcome>& outcomes, const Options& options) {
  Json cases = Json::array();
  for (const Outcome& outcome : outcomes) {
    Json row = to_json(outcome);
    const std::pair<const char*, Opponent> kOpponents[] = {
        {"best", Opponent::kBestRival}, {"onnxruntime", Opponent::kOnnxRuntime}, {"openvino", Opponent::kOpenVino}};
    for (const auto& [name, opponent] : kOpponents)
      if (const auto ratio = ratio_against(outcome, options.report.of, opponent))
        row["ratios"].push_back(
            {{"against", name}, {"ratio", ratio->ratio}, {"low", ratio->low}, {"high", ratio->high}});
    cases.push_back(std::move(row));
  }
  return {{"schema", "collage.operators/1"}, {"of", options.report.of}, {"cases", cases}};
}

Result<bool> run(Options options) {
  COLLAGE_TRY(const std::vector<OperatorCase> all, read_operator_cases(options.cases));
  std::vector<OperatorCase> cases;
  std::ranges::copy_if(all, std::back_inserter(cases), [&](const OperatorCase& which) {
    return (options.class_name.empty() || which.class_name() == options.class_name) &&
           ::fnmatch(options.filter.c_str(), which.name.c_str(), 0) == 0;
  });
  if (options.lists) {
    for (const OperatorCase& which : cases) std::cout << which.name << '\n';
    return true;
  }
  options.report.contenders = columns_of(options.contest);
  std::cout << table_head(options.report) << std::flush;
  std::vector<Outcome> outcomes;
  for (const OperatorCase& which : cases) {
    outcomes.push_back(run_guarded(which, options));
    std::cout << table_row(outcomes.back(), options.report) << std::flush;
  }
  std::cout << summary(outcomes, options.report);
  if (!options.json.empty()) {
    const std::string text = json_of(outcomes, options).dump(1) + '\n';
    const std::string_view piece = text;
    COLLAGE_TRY_VOID(write_file(options.json, {&piece, 1}));
  }
  return std::ranges::all_of(outcomes, [](const Outcome& o) { return o.error.empty() && o.failures.empty(); });
}

}  // namespace
}  // namespace collage::bench

int main(int argc, char** argv) {
  collage::bench::Options options;
  CLI::App app("times the backends against each other on single operators");
  app.add_option("--cases", options.cases, "the file of cases")->capture_default_str();
  app.add_option("--class", options.class_name, "cases of this class only");
  app.add_option("--filter", options.filter, "cases whose CLASS/NAME fits")->capture_default_str();
  app.add_option("--backends", options.contest.backends, "who takes part")->delimiter(',')->capture_default_str();
  app.add_option("--of", options.report.of, "whose ratios are shown")->capture_default_str();
  app.add_option("--rounds", options.contest.rounds, "of each case")->capture_default_str();
  app.add_flag("--plain-engines", options.contest.plain_engines, "engines in plain formats only");
  app.add_flag("--few-bits", options.contest.few_bits, "variants in 16 bits take part: class fast");
  app.add_option("--patience", options.patience_s, "seconds for a case")->capture_default_str();
  app.add_option("--json", options.json, "file for all samples");
  app.add_flag("--list", options.lists, "print the cases' names");
  CLI11_PARSE(app, argc, argv);
  const auto done = collage::bench::run(std::move(options));
  if (done) return *done ? 0 : 1;
  std::cerr << to_string(done.error()) << '\n';
  return static_cast<int>(done.error().exit);
}
