#include "api/c_tune/estimates.h"

namespace collage::c_api {
namespace {

constexpr double kNsPerUs = 1000;

Result<std::optional<double>> answer_of(const collage_tune_options& given, const std::string& candidate) {
  double us = 0;
  const std::int32_t answer = given.estimate(candidate.c_str(), &us, given.estimate_data);
  if (answer < 0)
    return fail(ExitCode::kUsage, "tune/estimate-failed", "collage_tune_options.estimate",
                "the answer " + std::to_string(answer), "0 or 1");
  if (answer == 0) return std::nullopt;
  return us * kNsPerUs;
}

}  // namespace

EstimateOptions estimates_from(const collage_tune_options& given, const TuneOptions& options) {
  if (given.estimate == nullptr) return {};
  const CompileOptions compile = options.compile();
  return {.estimator =
              [given, compile](const Graph& graph, const Region& region, const Candidate& candidate) {
                return answer_of(given, to_line(candidate_json(graph, region, candidate, compile)));
              },
          .use = given.estimates_only != 0 ? EstimateUse::kCost : EstimateUse::kForecast};
}

}  // namespace collage::c_api
