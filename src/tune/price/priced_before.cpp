#include "tune/price/priced_before.h"

#include <algorithm>

#include "base/hash.h"
#include "base/json.h"
#include "region/value_json.h"

namespace collage {
namespace {

constexpr const char* kWhat = "stored pricing";

std::string key_of(const std::string& question) { return "pricing|" + hash_hex(question); }

PricedBefore pricing_from(const Json& json) {
  const Json& rounds = json.at("rounds");
  return {.budget_s = json.at("budget").get<double>(),
          .sampled = json.at("sampled").get<std::vector<std::size_t>>(),
          .priced = json.at("priced").get<std::vector<std::size_t>>(),
          .forecast = json.at("forecast").get<std::vector<std::pair<std::size_t, std::int64_t>>>(),
          .costs_hash = json.at("costs").get<std::string>(),
          .is_cut = json.at("cut").get<bool>(),
          .rounds = rounds.is_null() ? std::nullopt : std::optional(rounds.get<int>()),
          .is_late = json.at("late").get<bool>(),
          .is_very_late = json.at("very_late").get<bool>()};
}

bool fits(const PricedBefore& pricing, std::size_t pool_size) {
  const auto is_inside = [&](std::size_t candidate) { return candidate < pool_size; };
  return std::ranges::all_of(pricing.sampled, is_inside) && std::ranges::all_of(pricing.priced, is_inside) &&
         std::ranges::all_of(pricing.forecast, is_inside, &std::pair<std::size_t, std::int64_t>::first);
}

bool is_estimate(const Cost& cost) { return std::holds_alternative<Estimated>(cost) && !is_sampled(cost); }

}  // namespace

std::string hash_of(const std::vector<Cost>& costs) {
  std::string text;
  for (const Cost& cost : costs) text += to_line(to_json(cost)) + "\n";
  return hash_hex(text);
}

PricedBefore priced_with(double budget_s, std::span<const std::size_t> asked, const std::vector<Cost>& costs) {
  PricedBefore pricing{.budget_s = budget_s, .sampled = {}, .priced = {}, .forecast = {}, .costs_hash = hash_of(costs)};
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (is_estimate(costs[c])) pricing.forecast.emplace_back(c, *nanoseconds_of(costs[c]));
  std::vector<std::size_t> once(asked.begin(), asked.end());
  std::ranges::sort(once);
  const auto twice = std::ranges::unique(once);
  once.erase(twice.begin(), twice.end());
  for (const std::size_t candidate : once)
    if (is_sampled(costs[candidate]))
      pricing.sampled.push_back(candidate);
    else if (!std::holds_alternative<Unknown>(costs[candidate]) && !is_estimate(costs[candidate]))
      pricing.priced.push_back(candidate);
  return pricing;
}

std::optional<PricedBefore> recall_pricing(Store& store, const std::string& question, double budget_s,
                                           std::size_t pool_size) {
  const auto text = store.verdict(key_of(question));
  if (!text) return std::nullopt;
  const auto json = parse_json(*text, kWhat);
  if (!json) return std::nullopt;
  auto pricing = read_json(kWhat, [&] { return pricing_from(*json); });
  if (!pricing || pricing->budget_s < budget_s || !fits(*pricing, pool_size)) return std::nullopt;
  return *std::move(pricing);
}

void keep_pricing(const PricingRecord& record, Store& store) {
  const PricedBefore& pricing = record.pricing;
  store.put_verdict(key_of(record.question), to_line(Json{{"budget", pricing.budget_s},
                                                          {"sampled", pricing.sampled},
                                                          {"priced", pricing.priced},
                                                          {"forecast", pricing.forecast},
                                                          {"costs", pricing.costs_hash},
                                                          {"cut", pricing.is_cut},
                                                          {"rounds", pricing.rounds ? Json(*pricing.rounds) : Json()},
                                                          {"late", pricing.is_late},
                                                          {"very_late", pricing.is_very_late}}));
}

}  // namespace collage
