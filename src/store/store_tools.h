// Tools for a cost store: statistics, export and import of costs, deletion, and why no cost was found for a key.
// In:  a store, or lines of costs. Out: numbers, lines, records.
// A line of costs is a JSON object {"schema": "collage.cost/2", "key", "cost", "of", "checksum"}; `of` describes the
// region or is null. Lines of collage.cost/1, which have no `of`, are read too. The key names the machine, so one store
// can hold costs of several machines. Artifacts and verdicts are not exported, because they refer to files.
// Cost: linear in the store. Source: JSON Lines, https://jsonlines.org
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/find_costs.h"
#include "store/store.h"

namespace collage {

struct StoreStats {
  Store::Counts counts;
  std::size_t refused = 0;                      ///< costs that are refusals
  std::map<std::string, std::size_t> backends;  ///< costs by backend instance
  std::map<std::string, std::size_t> machines;  ///< costs by machine print
  std::size_t files = 0;                        ///< artifacts
  std::uint64_t file_bytes = 0;
};
[[nodiscard]] StoreStats stats_of(Store& store);

/// One line each.
[[nodiscard]] std::string export_costs(const std::vector<FoundCost>& costs);

struct ImportCounts {
  std::size_t added = 0;
  std::size_t known = 0;    ///< there before: what the store has stays
  std::size_t skipped = 0;  ///< lines that are no costs, or whose checksum does not fit
};
[[nodiscard]] ImportCounts import_costs(Store& store, std::string_view lines);
/// What `from` knows and `into` does not.
[[nodiscard]] ImportCounts merge_costs(Store& into, Store& from);

struct FileCounts {
  std::size_t removed = 0;
  std::uint64_t removed_bytes = 0;
};
/// Removes artifact files that no record names. Nobody else may write to the store meanwhile.
[[nodiscard]] FileCounts remove_unnamed_files(Store& store);

struct FileCheck {
  std::size_t missing = 0;  ///< named by a record, but not there, or not to be read
  std::size_t damaged = 0;  ///< there, but not what their name says
};
[[nodiscard]] FileCheck check_files(Store& store);

/// A record near to a key that was not found, and where they differ.
struct NearMiss {
  std::string key;
  struct Difference {
    std::string field;
    std::string wanted;
    std::string stored;
  };
  std::vector<Difference> differences;
};
/// The nearest records about the same region or conversion, those with the fewest differences first.
[[nodiscard]] std::vector<NearMiss> near_misses(Store& store, std::string_view key, std::size_t count = 3);

}  // namespace collage
