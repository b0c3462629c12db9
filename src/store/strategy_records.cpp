#include "store/strategy_records.h"

#include <cmath>
#include <optional>
#include <set>

#include "store/keys.h"

namespace collage {
namespace {

struct Best {
  std::int64_t ns = 0;
  std::string variant;
};

/// What was timed of one region under the same surroundings: the best by way of the backend, and by other backend.
using Timed = std::map<std::string, Best>;

void keep_best(Timed& region, const std::string& name, const std::string& variant, std::int64_t ns) {
  const auto [found, is_new] = region.try_emplace(name, Best{.ns = ns, .variant = variant});
  if (!is_new && ns < found->second.ns) found->second = {.ns = ns, .variant = variant};
}

/// Nothing when nothing else was timed.
std::optional<std::int64_t> best_other(const Timed& region, const std::string& name) {
  std::optional<std::int64_t> best;
  for (const auto& [other, one] : region)
    if (other != name && (!best || one.ns < *best)) best = one.ns;
  return best;
}

void add_comparison(const Timed& region, const std::string& name, const Best& own, StrategyRecord& record,
                    double& sum_of_logs) {
  ++record.regions;
  const auto other = best_other(region, name);
  if (!other || *other <= 0 || own.ns <= 0) return;
  const double ratio = static_cast<double>(*other) / static_cast<double>(own.ns);
  ++record.compared;
  if (ratio >= 1) ++record.fastest;
  sum_of_logs += std::log(ratio);
  record.ratio = std::exp(sum_of_logs / static_cast<double>(record.compared));
  if (ratio <= record.best_ratio) return;
  record.best_ratio = ratio;
  record.best_variant = own.variant;
}

}  // namespace

std::map<std::string, StrategyRecord> strategy_records(Store& store, const BackendInfo& backend,
                                                       std::span<const StrategyLine> lines,
                                                       const std::string& machine) {
  std::set<std::string> names;
  for (const StrategyLine& line : lines) names.insert(line.implementation);
  std::map<std::string, StrategyRecord> records;
  std::map<std::string, Timed> regions;
  for (const auto& [key, cost] : store.costs_like(" machine=" + machine)) {
    std::map<std::string, std::string> fields = fields_by_name(key);
    if (!fields.contains("region")) continue;
    const std::string& variant = fields["variant"];
    const std::string way = variant.substr(0, variant.find('.'));
    const bool is_own = fields["backend"] == backend.name && fields["build"] == backend.build && names.contains(way);
    if (is_own && std::holds_alternative<Infeasible>(cost)) ++records[way].refused;
    const auto* measured = std::get_if<Measured>(&cost);
    if (measured == nullptr) continue;
    const std::string place =
        fields["region"] + ' ' + fields["threads"] + ' ' + fields["accuracy"] + ' ' + fields["displaced"];
    // Other backends are told apart by a name that no implementation has.
    keep_best(regions[place], is_own ? way : "other " + fields["backend"], variant, measured->median_ns);
  }
  std::map<std::string, double> sums_of_logs;
  for (const auto& [place, region] : regions)
    for (const auto& [name, own] : region)
      if (names.contains(name)) add_comparison(region, name, own, records[name], sums_of_logs[name]);
  return records;
}

}  // namespace collage
