// Finds costs by operators, backend, nodes or model.
// In:  a store and the user's search words. Out: costs with what is known about their regions; suggestions for unknown
//       words.
// Cost: linear in the store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/region_facts.h"
#include "store/store.h"

namespace collage {

/// Which costs are meant: those that fit all that is not empty.
struct CostFilter {
  std::string text = {};           ///< a part of the key, of the operators, of a node's name or of the model's
  std::string operator_name = {};  ///< one of the region's operators
  std::string backend = {};        ///< an instance, or a kind with all its instances
  std::string node = {};           ///< glob of the names of nodes: * any text, ? any character, [...] one of these
  [[nodiscard]] bool is_empty() const {
    return text.empty() && operator_name.empty() && backend.empty() && node.empty();
  }
};

/// The text in place of operators for a conversion.
inline constexpr std::string_view kConversionOperators = "conversion";

struct FoundCost {
  std::string key;
  Cost cost;
  std::string operators;  ///< "Add+Conv", kConversionOperators; empty where an older version kept the cost
  std::string backend;
  std::string variant;               ///< empty for conversions
  std::optional<RegionFacts> facts;  ///< of regions, where the store knows
};

/// By operators and what they are of; there the fastest first, then what was refused.
[[nodiscard]] std::vector<FoundCost> find_costs(Store& store, const CostFilter& filter);

/// "region=HASH" of a cost's key; empty for conversions.
[[nodiscard]] std::string region_in(const std::string& key);
/// What the cost is of, as its key has it: "region=HASH", "convert=TYPE from=FORMAT to=FORMAT".
[[nodiscard]] std::string subject_in(const std::string& key);
/// "Add+Conv" -> "Add", "Conv".
[[nodiscard]] std::vector<std::string> split_operators(const std::string& operators);

/// What the store knows that `filter` may have meant, such as "; did you mean Conv?"; nothing when nothing is near.
[[nodiscard]] std::string suggestion_for(Store& store, const CostFilter& filter);

}  // namespace collage
