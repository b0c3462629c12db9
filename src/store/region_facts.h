// Stores descriptions of regions, so that `collage db` finds costs by operators and nodes; cost keys contain only a
// hash.
// In:  regions that are priced. Out: one record for each structure; these records read back.
// No decision of a tune depends on these records.
// Cost: one look-up in the store for each structure, one transaction when there are new ones.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "region/region.h"
#include "region/value_json.h"
#include "store/store.h"

namespace collage {

struct RegionFacts {
  std::string operators;               ///< as operators_of() of strikes.h has them: "Conv+Relu"
  std::size_t node_count = 0;          ///< of one place
  std::vector<std::string> inputs;     ///< types: "f32[1,3,224,224]"
  std::vector<std::string> constants;  ///< likewise, the first kMostConstants
  std::vector<std::string> outputs;
  std::string model;               ///< file name of the model whose tune asked first
  std::vector<std::string> nodes;  ///< their names there, of all places of the structure, the first kMostNodes
  bool operator==(const RegionFacts&) const = default;
};
inline constexpr std::size_t kMostConstants = 8;
inline constexpr std::size_t kMostNodes = 64;

[[nodiscard]] RegionFacts facts_of(const Graph& graph, const Region& region, const std::string& model);
/// Another place of the same structure.
void add_place(const Graph& graph, const Region& region, RegionFacts& facts);

[[nodiscard]] Json to_json(const RegionFacts& facts);
/// Throws Json::exception on malformed input, so call it inside read_json.
[[nodiscard]] RegionFacts facts_from(const Json& json);
[[nodiscard]] std::optional<RegionFacts> parse_facts(const std::string& text);

/// Tells a store what the regions are that are priced. One thread. The store outlives it.
class FactsKeeper {
 public:
  /// `model`: file name of the model being tuned.
  FactsKeeper(Store& store, std::string model) : store_(store), model_(std::move(model)) {}

  void note(const std::string& structure_key, const Graph& graph, const Region& region);
  /// Writes what the store did not know.
  void keep();

 private:
  Store& store_;
  std::string model_;
  std::map<std::string, RegionFacts> known_;  ///< by key of the store
  std::set<std::string> changed_;
};

}  // namespace collage
