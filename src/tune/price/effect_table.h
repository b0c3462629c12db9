// What tunes have shown of the effects of a cost model (cost_model.h), for tunes of other models.
// In:  effects as one tune after the other estimated them. Out: what to expect of them before anything is measured.
// How: an effect differs from model to model by some deviation, the larger the farther such effects are from none. So
//      the estimate of one model counts for little more than those of others, however often the effect was seen there.
//      Estimates of other machines count for less.
// Cost: linear in the tables.
// Source: empirical Bayes estimates of random effects, as in a meta-analysis (DerSimonian and Laird, 1986).
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/json.h"

namespace collage {

/// An effect: a number to add to the logarithm of a time.
struct KnownEffect {
  double mean = 0;
  double weight = 0;  ///< 1 / variance of the mean; of data alone, without what was expected before
  bool operator==(const KnownEffect&) const = default;
};

/// By "level|name" of the cost model.
using EffectTable = std::map<std::string, KnownEffect>;

/// What the tables of several models say together. `elsewhere`, what other machines showed, may be empty.
[[nodiscard]] EffectTable pooled_effects(std::span<const EffectTable> of_models, const EffectTable& elsewhere);

/// Variance of the effect in a model that nobody has seen yet, around KnownEffect::mean; `deviation` is how far such
/// effects usually are from none.
[[nodiscard]] double variance_in_next_model(const KnownEffect& known, double deviation);

[[nodiscard]] Json to_json(const EffectTable& effects);
/// Throws Json::exception on malformed input: call it inside read_json().
[[nodiscard]] EffectTable effects_from(const Json& json);

}  // namespace collage
