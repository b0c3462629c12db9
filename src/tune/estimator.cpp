#include "tune/estimator.h"

#include "region/region_json.h"
#include "region/value_json.h"

namespace collage {

Json candidate_json(const Graph& graph, const Region& region, const Candidate& candidate,
                    const CompileOptions& options) {
  const Json variant = to_json(candidate.variant);
  return {{"schema", "collage.candidate/1"},         {"backend", candidate.backend},
          {"variant", candidate.variant.name},       {"input_formats", variant.at("inputs")},
          {"output_formats", variant.at("outputs")}, {"threads", options.threads},
          {"accuracy", name_of(options.accuracy)},   {"region", region_json(graph, region)}};
}

}  // namespace collage
