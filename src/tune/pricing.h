// Costs and artifacts of candidates and conversions, for the search.
// Conversions are priced lazily: the search runs with optimistic estimates, the conversions its covers use are
// measured, and it runs again until all of them are.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/progress.h"
#include "measure/pricer.h"
#include "measure/store.h"
#include "tune/covers.h"

namespace collage {

struct PricingOptions {
  std::vector<std::string> worker_command;
  std::string graph_file;
  std::string record;
  int threads = 1;
  Accuracy accuracy = Accuracy::kStandard;
  std::uint64_t seed = 1;
  Clock::time_point deadline;  ///< no measurement is begun after it
  Progress progress;
  std::stop_token stop;
};

