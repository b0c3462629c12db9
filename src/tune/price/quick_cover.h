// Covers that nothing was measured for, made within seconds.
// In:  candidates. Out: the best cover under forecast costs, without engines and compilers where others run
//      a node, in 16 bits where that can be.
// Cost: forecasts for all candidates once; one search for each cover.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tune/measure_env.h"
#include "tune/price/making.h"
#include "tune/price/priced.h"
#include "tune/tune_task.h"

namespace collage {

/// Gives forecasts as costs to candidates of backends that compile nothing, at nodes that no candidate with a cost
/// runs: what was measured there does not work, or may not round. False when no cost came that way.
[[nodiscard]] bool forecast_where_nobody_runs(const TuneTask& task, const MeasureEnv& env, Priced& priced);

/// Task, environment and `priced` outlive it.
class QuickCovers {
 public:
  QuickCovers(const TuneTask& task, const MeasureEnv& env, Priced& priced);

  /// Without the kernels that were found not to work so far. Errors of the search, such as that nobody runs a node.
  [[nodiscard]] Result<SearchResult> best();

 private:
  /// Of compilers leaves the candidates at nodes that nobody else runs: those in 16 bits, where there are any.
  void leave_quick(std::vector<Cost>& costs) const;

  Priced& priced_;
  CoverRequest request_;  ///< with forecasts
  std::map<std::string, Making> makings_;
  std::vector<std::string> allowed_;  ///< backends
};

}  // namespace collage
