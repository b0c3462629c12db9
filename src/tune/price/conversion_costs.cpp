#include "tune/price/conversion_costs.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <variant>

#include "backend/roles.h"

namespace collage {
namespace {

/// An optimistic conversion: a fixed part and both sides at this many bytes per nanosecond.
constexpr std::int64_t kConversionFixedNs = 200;
constexpr std::int64_t kConversionBytesPerNs = 200;

std::optional<BoundaryChoice> best_converter(const ConversionRequest& request,
                                             const std::vector<PricedCandidate>& priced) {
  std::optional<BoundaryChoice> best;
  for (std::size_t b = 0; b < request.backends.size(); ++b) {
    const auto ns = nanoseconds_of(priced[b].cost);
    if (ns && (!best || *ns < *nanoseconds_of(best->cost)))
      best = {.backend = request.backends[b], .cost = priced[b].cost};
  }
  return best;
}

/// Nobody has a time for it, and there was no time to ask them all.
bool is_left_over(const std::vector<PricedCandidate>& priced) {
  const auto is = [&](auto&& test) { return std::ranges::any_of(priced, test, &PricedCandidate::cost); };
  return is([](const Cost& cost) { return std::holds_alternative<Unknown>(cost); }) &&
         !is([](const Cost& cost) { return nanoseconds_of(cost).has_value(); });
}

}  // namespace

ConversionCosts::ConversionCosts(const Graph& graph, std::vector<std::string> converters,
                                 std::vector<std::string> quick, Locations locations)
    : graph_(graph), converters_(std::move(converters)), quick_(std::move(quick)), locations_(std::move(locations)) {}

BoundaryTable ConversionCosts::table() {
  return [this](ValueId value, const Place& from, const Place& to) { return choice(value, from, to); };
}

Result<std::size_t> ConversionCosts::measure(std::span<const NamedCover> covers, const MeasureLimits& limits,
                                             Pricer& pricer, Effort effort, std::int64_t least_ns) {
  const std::vector<ConversionRequest> requests = open_in(covers, effort, least_ns);
  if (effort != Effort::kSample) {
    // With what an earlier tune has sampled, the best covers may be others.
    COLLAGE_TRY(const std::size_t known, take_samples(requests, limits, pricer));
    if (known > 0) return known;
  }
  if (requests.empty()) return 0U;
  COLLAGE_TRY(const auto priced, pricer.price(requests, limits, effort));
  return requests.size() - put(requests, priced).size();
}

Result<std::size_t> ConversionCosts::take_samples(std::vector<ConversionRequest> requests, const MeasureLimits& limits,
                                                  Pricer& pricer) {
  std::erase_if(requests, [this](const ConversionRequest& request) { return is_known(request.conversion); });
  if (requests.empty()) return 0U;
  COLLAGE_TRY(const auto priced, pricer.price(requests, without_time(limits), Effort::kSample));
  std::size_t count = 0;
  for (std::size_t r = 0; r < requests.size(); ++r) {
    auto best = best_converter(requests[r], priced[r]);
    if (!best || !is_sampled(best->cost)) continue;
    known_[key_of(requests[r].conversion)] = std::move(best);
    ++count;
  }
  return count;
}

std::vector<ConversionRequest> ConversionCosts::put(const std::vector<ConversionRequest>& requests,
                                                    const std::vector<std::vector<PricedCandidate>>& priced) {
  std::vector<ConversionRequest> left;
  for (std::size_t r = 0; r < requests.size(); ++r) {
    auto best = best_converter(requests[r], priced[r]);
    // Those who were not asked for a sample may be able to.
    const bool has_others = requests[r].backends == quick_ && quick_.size() < converters_.size();
    if (!best && (has_others || is_left_over(priced[r])))
      left.push_back(requests[r]);
    else
      known_[key_of(requests[r].conversion)] = std::move(best);
  }
  return left;
}

bool ConversionCosts::is_known(const Conversion& conversion) const {
  const auto found = known_.find(key_of(conversion));
  if (found == known_.end()) return false;
  const std::optional<BoundaryChoice>& choice = found->second;
  return !choice || !std::holds_alternative<Estimated>(choice->cost) || is_sampled(choice->cost);
}

void ConversionCosts::refuse(const Conversion& conversion) { known_[key_of(conversion)] = std::nullopt; }

ConversionCosts::Key ConversionCosts::key_of(const Conversion& conversion) {
  return {.type = to_string(conversion.type), .from = conversion.from, .to = conversion.to};
}

std::optional<BoundaryChoice> ConversionCosts::choice(ValueId value, const Place& from, const Place& to) {
  const ValueType& type = graph_.value(value).type;
  const Key key{to_string(type), from, to};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_.emplace(key, estimate(type, from, to)).first->second;
}

std::optional<BoundaryChoice> ConversionCosts::estimate(const ValueType& type, const Place& from,
                                                        const Place& to) const {
  if (!type.is_static()) return std::nullopt;
  if (from.location == to.location && same_bytes(type, from.format, to.format))
    return BoundaryChoice{.backend = kHostBackend,
                          .cost = Measured{.median_ns = 0, .low_ns = 0, .high_ns = 0, .samples = 1}};
  const std::vector<std::string> converters = converters_of(from, to);
  if (converters.empty()) return std::nullopt;
  const auto bytes = [&](const Format& format) {
    return static_cast<std::int64_t>(byte_count(stored_element(type, format), type.extents()));
  };
  const std::int64_t moved = bytes(from.format) + bytes(to.format);
  return BoundaryChoice{.backend = converters.front(),
                        .cost = Estimated{kConversionFixedNs + moved / kConversionBytesPerNs}};
}

std::vector<std::string> ConversionCosts::converters_of(const Place& from, const Place& to, Effort effort) const {
  if (from.location != to.location) {
    if (from.format != to.format || (from.location != kHome && to.location != kHome)) return {};
    return {locations_.owners.at(from.location == kHome ? to.location : from.location).front()};
  }
  if (from.location != kHome) return locations_.owners.at(from.location);
  const std::string of_from = from.format.owner();
  const std::string of_to = to.format.owner();
  if (of_from.empty() && of_to.empty()) return effort == Effort::kSample ? quick_ : converters_;
  if (of_from.empty()) return {of_to};
  if (of_to.empty() || of_to == of_from) return {of_from};
  return {};
}

std::vector<ConversionRequest> ConversionCosts::open_in(std::span<const NamedCover> covers, Effort effort,
                                                        std::int64_t least_ns) const {
  std::set<Key> wanted;
  std::vector<ConversionRequest> requests;
  for (const NamedCover& cover : covers)
    for (const CoverStep& step : cover.result.cover.steps) {
      const auto move = move_of(step);
      if (!move || !std::holds_alternative<Estimated>(step.cost)) continue;
      if (is_sampled(step.cost) && (effort == Effort::kSample || nanoseconds_of(step.cost) < least_ns)) continue;
      const Conversion conversion = conversion_of(graph_, *move);
      if (wanted.insert(key_of(conversion)).second)
        requests.push_back({.conversion = conversion, .backends = converters_of(move->from, move->to, effort)});
    }
  return requests;
}

Conversion conversion_of(const Graph& graph, const ValueMove& move) {
  return {.type = graph.value(move.value).type, .from = move.from, .to = move.to};
}

}  // namespace collage
