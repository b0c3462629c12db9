// Prints costs of a store for `collage db`: one line each, grouped by region, field by field, or as JSON.
#pragma once

#include <span>
#include <string>

#include "base/json_numbers.h"
#include "store/find_costs.h"

namespace collage::cli {

/// Regions with their costs below, one line each; no line of a region is longer than 80 columns.
[[nodiscard]] std::string list_text(std::span<const FoundCost> costs);
/// Every field of the key, what the cost is of, and its samples.
[[nodiscard]] std::string record_text(const FoundCost& found, const std::optional<Samples>& samples);
/// One entry of `records`; `samples_ns` and `warm_ns` where there are samples.
[[nodiscard]] nlohmann::ordered_json to_json(const FoundCost& found, const std::optional<Samples>& samples);

}  // namespace collage::cli
