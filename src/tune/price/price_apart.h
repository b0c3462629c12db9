// Prices candidates of backends that cannot run in one process: each backend is asked in a worker of its own.
// In:  requests with candidates of several backends. Out: the answers in the order of the requests.
// Cost: what is measured; one start of a worker for each backend and call.
#pragma once

#include <span>
#include <vector>

#include "measure/pricer.h"

namespace collage {

/// As Pricer::price, whose errors it has.
[[nodiscard]] Result<std::vector<std::vector<PricedCandidate>>> price_apart(Pricer& pricer, const Graph& graph,
                                                                            std::span<const PriceRequest> requests,
                                                                            const MeasureLimits& limits, Effort effort);

}  // namespace collage
