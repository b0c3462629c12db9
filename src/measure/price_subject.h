// What a price job measures, shared by all its candidates: a region with its recorded values, or a conversion.
// In:  a job, and the graph and record that the worker has loaded. Out: the region and its ports.
#pragma once

#include <optional>
#include <vector>

#include "measure/jobs.h"
#include "measure/trial.h"
#include "measure/workbench.h"

namespace collage {

struct PriceSubject {
  const Graph* graph = nullptr;  ///< null for a conversion
  const Uses* uses = nullptr;
  Region region;
  std::optional<Conversion> conversion;
  std::vector<TrialPort> inputs;  ///< formats still plain
  std::vector<TrialPort> outputs;
};

/// Error measure/no-such-node for a node that the graph does not have, and as the workbench for files it cannot read.
[[nodiscard]] Result<PriceSubject> price_subject(const PriceJob& job, Workbench& bench);

}  // namespace collage
