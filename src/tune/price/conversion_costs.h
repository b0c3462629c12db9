// What conversions and transfers of one graph's values cost: measured where a cover was found to use them, optimistic
// estimates elsewhere. Equal conversions share one cost.
// In:  a value and two places. Out: who brings it from one to the other, and the cost.
// Cost: a lookup; of measure(), what is measured.
#pragma once

#include <compare>
#include <cstddef>
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
  /// `converters` are asked between the common formats at home, the owners in `locations` elsewhere. The graph outlives
  /// it.
  ConversionCosts(const Graph& graph, std::vector<std::string> converters, Locations locations);

  /// What is known so far, estimates for the others, as the search takes them. Lives no longer than this object.
  [[nodiscard]] BoundaryTable table();
  /// Measures the estimated conversions and transfers of the covers; how many there were. Nothing after limits.latest.
  [[nodiscard]] Result<std::size_t> measure(std::span<const NamedCover> covers, const MeasureLimits& limits,
                                            Pricer& pricer);
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
  [[nodiscard]] std::vector<std::string> converters_of(const Place& from, const Place& to) const;
  /// The estimated ones that the covers use, each once.
  [[nodiscard]] std::vector<ConversionRequest> estimated_in(std::span<const NamedCover> covers) const;

  const Graph& graph_;
  std::vector<std::string> converters_;
  Locations locations_;
  std::map<Key, std::optional<BoundaryChoice>> known_;  ///< nothing where it is impossible
};

[[nodiscard]] Conversion conversion_of(const Graph& graph, const ValueMove& move);

}  // namespace collage
