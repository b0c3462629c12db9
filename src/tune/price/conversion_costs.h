// What conversions and transfers of one graph's values cost: measured where a cover was found to use them, optimistic
// estimates elsewhere. Equal conversions share one cost.
// In:  a value and two places. Out: who brings it from one to the other, and the cost.
// Cost: a lookup; of measure(), what is measured.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/pricer.h"
#include "region/cover.h"
#include "search/search.h"
#include "tune/locations.h"
#include "tune/price/covers.h"

namespace collage {

class ConversionCosts {
 public:
  /// `converters` are asked between the common formats at home, for samples only those that are `quick` to ask; the
  /// owners in `locations` elsewhere. The graph outlives it.
  ConversionCosts(const Graph& graph, std::vector<std::string> converters, std::vector<std::string> quick,
                  Locations locations);

  /// What is known so far, estimates for the others, as the search takes them. Lives no longer than this object.
  [[nodiscard]] BoundaryTable table();
  /// Measures the conversions and transfers of the covers that are estimated, and unless the effort is kSample also
  /// those that are sampled and cost at least `least_ns`; how many have a cost now. After limits.latest only the store
  /// is asked.
  [[nodiscard]] Result<std::size_t> measure(std::span<const NamedCover> covers, const MeasureLimits& limits,
                                            Pricer& pricer, Effort effort = Effort::kTime, std::int64_t least_ns = 0);
  /// It was measured and yet does not work: impossible from now on.
  void refuse(const Conversion& conversion);

 private:
  struct Key {
    std::string type;
    Place from;
    Place to;
    auto operator<=>(const Key&) const = default;
  };

  [[nodiscard]] static Key key_of(const Conversion& conversion);
  [[nodiscard]] std::optional<BoundaryChoice> choice(ValueId value, const Place& from, const Place& to);
  [[nodiscard]] std::optional<BoundaryChoice> estimate(const ValueType& type, const Place& from, const Place& to) const;
  /// For this effort.
  [[nodiscard]] std::vector<std::string> converters_of(const Place& from, const Place& to,
                                                       Effort effort = Effort::kTime) const;
  /// Those of these requests of which the store has a sample; how many there were.
  [[nodiscard]] Result<std::size_t> take_samples(std::vector<ConversionRequest> requests, const MeasureLimits& limits,
                                                 Pricer& pricer);
  /// Takes the answers to these requests; those that got none.
  std::vector<ConversionRequest> put(const std::vector<ConversionRequest>& requests,
                                     const std::vector<std::vector<PricedCandidate>>& priced);
  /// Measured or sampled, or impossible.
  [[nodiscard]] bool is_known(const Conversion& conversion) const;
  /// What measure() is to measure, each once.
  [[nodiscard]] std::vector<ConversionRequest> open_in(std::span<const NamedCover> covers, Effort effort,
                                                       std::int64_t least_ns) const;

  const Graph& graph_;
  std::vector<std::string> converters_;
  std::vector<std::string> quick_;
  Locations locations_;
  std::map<Key, std::optional<BoundaryChoice>> known_;  ///< nothing where it is impossible
};

[[nodiscard]] Conversion conversion_of(const Graph& graph, const ValueMove& move);

}  // namespace collage
