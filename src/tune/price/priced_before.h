// Remembers what a tune had when its pricing ended. The same tune, asked for again, takes the same costs from the store
// and searches for nothing more to measure: it gives the same answer at once, also where the budget had ended pricing.
// In:  candidates with costs, what the clock decided. Out: a record in the store; from it, what to ask the store for.
// Not here: what the clock decides afterwards (tune/deadline_log.h). Bodies of control-flow operators and --measure-all
//       have no record: they are priced as far as the budget goes each time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "region/cost.h"
#include "store/store.h"

namespace collage {

struct PricedBefore {
  double budget_s = 0;
  std::vector<std::size_t> sampled;                            ///< candidates that a few runs gave a cost
  std::vector<std::size_t> priced;                             ///< candidates that were timed or refused
  std::vector<std::pair<std::size_t, std::int64_t>> forecast;  ///< candidates that were never run, nanoseconds
  std::string costs_hash;                                      ///< of the costs of the whole pool
  bool is_cut = false;                                         ///< there was no time for more
  /// Of joining neighbours; nothing for a tune that ended before it was over.
  std::optional<int> rounds = std::nullopt;
  bool is_late = false;       ///< there was no time for more once neighbours were joined
  bool is_very_late = false;  ///< nor for other covers than the best
};

struct PricingRecord {
  std::string question;  ///< says all that pricing depends on but the clock
  PricedBefore pricing;
  bool is_recalled = false;
};

/// Of the costs of a pool, of which those of the candidates `asked` are in the store.
[[nodiscard]] PricedBefore priced_with(double budget_s, std::span<const std::size_t> asked,
                                       const std::vector<Cost>& costs);
[[nodiscard]] std::string hash_of(const std::vector<Cost>& costs);

/// Nothing for a record with a smaller budget, or with candidates that a pool of this size does not have.
[[nodiscard]] std::optional<PricedBefore> recall_pricing(Store& store, const std::string& question, double budget_s,
                                                         std::size_t pool_size);
void keep_pricing(const PricingRecord& record, Store& store);

}  // namespace collage
