// Counts crashes and hangs of a backend's build on one kind of operators. After three, the backend is not asked for
// these operators any more.
// In:  deaths of workers. Out: refusals. Counts are kept in the cost store until the build changes or the user resets
//       them.
// A backend that hangs five times, on any operators, is excluded for the rest of the tune, because one hang takes as
// long as hundreds of measurements. A single candidate that crashed is stored as a refusal among the costs, not here.
// Cost: one look-up in the store for a question.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "store/store.h"

namespace collage {

/// Crashes and hangs of one backend's build on one kind of operators.
struct Strike {
  std::string backend;  ///< instance
  std::string build;
  std::string operators;  ///< as operators_of() has them
  int count = 0;
  std::string last;  ///< reason and detail of the last one
  bool operator==(const Strike&) const = default;
};

/// From this many strikes on, a backend is blocked for these operators; hangs are counted over all operators.
inline constexpr int kMostStrikes = 3;
inline constexpr int kMostHangs = 5;

/// The different operators of a region, sorted: "Add+Relu"; those of other domains as "domain::Name".
[[nodiscard]] std::string operators_of(const Graph& graph, const Region& region);

/// One thread. The store outlives it.
class Strikes {
 public:
  explicit Strikes(Store& store) : store_(store) {}

  /// Counts a worker's death as kCrashed or kTimeout; others are not the backend's fault.
  void add(const BackendInfo& backend, const std::string& operators, const Refusal& why);

  /// Why the backend is not asked for these operators; nothing when it may be.
  [[nodiscard]] std::optional<Refusal> block_of(const BackendInfo& backend, const std::string& operators);

 private:
  Store& store_;
  std::map<std::string, int> hangs_;  ///< by backend instance
};

/// Everything counted in the store, by key.
[[nodiscard]] std::vector<Strike> strikes_in(Store& store);

/// Removes the strikes of a backend on these operators: an instance, or a kind with all its instances; all operators
/// when empty. In that case the refusals of single candidates that crashed or hung are removed too. Returns how many
/// strikes and refusals there were.
std::size_t lift_strikes(Store& store, const std::string& backend, const std::string& operators);

}  // namespace collage
