#include "tune/price/effect_table.h"

#include <algorithm>
#include <cmath>

namespace collage {
namespace {

/// Deviation of an effect from one model to another, and from one machine to another, where it weighs what is known.
constexpr double kBetweenModels = 0.1;
constexpr double kBetweenMachines = 0.2;
/// The first of them in parts of the deviation of the effects themselves, and at most.
constexpr double kShareBetweenModels = 0.5;
constexpr double kMostBetweenModels = 0.2;
/// Decimals in files: more than measured times have.
constexpr double kDecimals = 1e4;

double rounded(double number) { return std::round(number * kDecimals) / kDecimals; }

/// Means by weight.
class WeightedMeans {
 public:
  void add(const EffectTable& table, double deviation) {
    for (const auto& [name, effect] : table) {
      const double weight = 1 / (deviation * deviation + 1 / effect.weight);
      KnownEffect& sum = sums_[name];
      sum.mean += weight * effect.mean;
      sum.weight += weight;
    }
  }
  [[nodiscard]] EffectTable take() && {
    // As they are read back from a file: a tune that is asked again begins with exactly these.
    for (auto& [name, effect] : sums_)
      effect = {.mean = rounded(effect.mean / effect.weight), .weight = rounded(effect.weight)};
    return std::move(sums_);
  }

 private:
  EffectTable sums_;
};

}  // namespace

EffectTable pooled_effects(std::span<const EffectTable> of_models, const EffectTable& elsewhere) {
  WeightedMeans means;
  for (const EffectTable& table : of_models) means.add(table, kBetweenModels);
  means.add(elsewhere, kBetweenMachines);
  return std::move(means).take();
}

double variance_in_next_model(const KnownEffect& known, double deviation) {
  const double between = std::min(kShareBetweenModels * deviation, kMostBetweenModels);
  return between * between + 1 / known.weight;
}

Json to_json(const EffectTable& effects) {
  Json object = Json::object();
  for (const auto& [name, effect] : effects) object[name] = {rounded(effect.mean), rounded(effect.weight)};
  return object;
}

EffectTable effects_from(const Json& json) {
  EffectTable effects;
  for (const auto& [name, pair] : json.items()) {
    const KnownEffect effect{.mean = pair.at(0), .weight = pair.at(1)};
    if (effect.weight > 0) effects.emplace(name, effect);
  }
  return effects;
}

}  // namespace collage
