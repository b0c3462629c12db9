#include "tune/price/cost_model.h"

#include <algorithm>
#include <cmath>

#include "tune/price/normal_distribution.h"

namespace collage {
namespace {

/// So many times are odd, and then anything up to e^kOddRange too long.
constexpr double kOddShare = 0.05;
constexpr double kOddRange = 3;
constexpr int kLinearisations = 5;
constexpr int kSweeps = 6;

}  // namespace

std::size_t CostModel::add_level(std::string name, double deviation, bool is_shared) {
  levels_.push_back({.name = std::move(name), .variance = deviation * deviation, .is_shared = is_shared});
  return levels_.size() - 1;
}

/// Of an effect that was seen elsewhere two things are expected: that it is near zero, and near what it was there.
CostModel::State CostModel::state_of(std::size_t level, const std::string& name) const {
  State state{.level = level, .variance = levels_[level].variance};
  if (const auto known = known_.find(levels_[level].name + "|" + name); known != known_.end()) {
    const double near_known = variance_in_next_model(known->second, std::sqrt(state.variance));
    state.mean = known->second.mean * state.variance / (state.variance + near_known);
    state.variance = state.variance * near_known / (state.variance + near_known);
    state.is_known = true;
  }
  state.value = state.mean;
  return state;
}

CostModel::Effect CostModel::effect(std::size_t level, const std::string& name) {
  const auto [found, added] = names_.emplace(std::pair(level, name), static_cast<Effect>(effects_.size()));
  if (added) effects_.push_back(state_of(level, name));
  return found->second;
}

double CostModel::part_ns(const Part& part) const {
  double log_ns = std::log(part.base_ns);
  for (const Effect e : part.effects) log_ns += effects_[e].value;
  return std::exp(log_ns);
}

double CostModel::log_of(const Computation& computation) const {
  double ns = 0;
  for (const Part& part : computation.parts) ns += part_ns(part);
  double log_ns = std::log(ns);
  for (const Effect e : computation.effects) log_ns += effects_[e].value;
  return log_ns;
}

std::vector<CostModel::Weight> CostModel::weights(const Computation& computation) const {
  std::vector<double> times;
  double sum = 0;
  for (const Part& part : computation.parts) sum += times.emplace_back(part_ns(part));
  std::vector<Weight> weights;
  for (std::size_t p = 0; p < times.size(); ++p)
    for (const Effect e : computation.parts[p].effects) weights.push_back({.effect = e, .share = times[p] / sum});
  for (const Effect e : computation.effects) weights.push_back({.effect = e, .share = 1});
  if (computation.parts.size() == 1) return weights;
  std::ranges::sort(weights, {}, &Weight::effect);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < weights.size(); ++i) {
    if (weights[i].effect == weights[kept].effect)
      weights[kept].share += weights[i].share;
    else
      weights[++kept] = weights[i];
  }
  weights.resize(kept + 1);
  return weights;
}

void CostModel::learn(const Computation& computation, double ns) {
  const double log_ns = std::log(ns);
  rows_.push_back({.computation = &computation,
                   .log_ns = log_ns,
                   .precision = 1 / (computation.noise * computation.noise),
                   .is_doubted = is_odd(computation, log_ns)});
}

void CostModel::linearise(std::vector<double>& residuals) {
  for (State& effect : effects_) effect.terms.clear();
  for (std::uint32_t r = 0; r < rows_.size(); ++r) {
    residuals[r] = rows_[r].log_ns - log_of(*rows_[r].computation);
    if (rows_[r].is_doubted) continue;
    for (const Weight& weight : weights(*rows_[r].computation))
      effects_[weight.effect].terms.push_back({.row = r, .weight = weight.share});
  }
  for (State& effect : effects_) {
    effect.evidence = 0;
    for (const Term& term : effect.terms) effect.evidence += rows_[term.row].precision * term.weight * term.weight;
  }
}

void CostModel::sweep(std::vector<double>& residuals) {
  for (State& effect : effects_) {
    if (effect.terms.empty()) {
      effect.value = effect.mean;
      continue;
    }
    double pull = effect.evidence * effect.value + effect.mean / effect.variance;
    for (const Term& term : effect.terms) pull += rows_[term.row].precision * term.weight * residuals[term.row];
    const double value = pull * variance_left(effect);
    for (const Term& term : effect.terms) residuals[term.row] -= term.weight * (value - effect.value);
    effect.value = value;
  }
}

double CostModel::variance_left(const State& effect) { return 1 / (effect.evidence + 1 / effect.variance); }

bool CostModel::is_odd(const Computation& computation, double log_ns) const {
  const Prediction expected = predict(computation);
  const double surprise = (log_ns - std::log(expected.ns)) / expected.spread;
  const double density = normal_density(surprise) / expected.spread;
  return surprise > 0 && kOddShare / kOddRange > (1 - kOddShare) * density;
}

void CostModel::believe_doubts_that_agree() {
  std::vector<int> balance(effects_.size());
  std::vector<int> doubts(effects_.size());
  for (const Row& row : rows_)
    for (const Weight& weight : weights(*row.computation)) {
      balance[weight.effect] += row.is_doubted ? 1 : -1;
      doubts[weight.effect] += row.is_doubted ? 1 : 0;
    }
  for (Row& row : rows_)
    for (const Weight& weight : weights(*row.computation))
      if (doubts[weight.effect] > 1 && balance[weight.effect] > 0) row.is_doubted = false;
}

void CostModel::fit() {
  believe_doubts_that_agree();
  std::vector<double> residuals(rows_.size());
  for (int i = 0; i < kLinearisations; ++i) {
    linearise(residuals);
    for (int s = 0; s < kSweeps; ++s) sweep(residuals);
  }
}

CostModel::Prediction CostModel::predict(const Computation& computation) const {
  double own = computation.noise * computation.noise;
  double shared = 0;
  for (const Weight& weight : weights(computation)) {
    const State& effect = effects_[weight.effect];
    const double variance = weight.share * weight.share * variance_left(effect);
    (levels_[effect.level].is_shared ? shared : own) += variance;
  }
  return {.ns = std::exp(log_of(computation)), .spread = std::sqrt(own + shared), .shared_spread = std::sqrt(shared)};
}

EffectTable CostModel::learnt() const {
  EffectTable learnt;
  for (const auto& [key, effect] : names_) {
    const auto& [level, name] = key;
    const State& state = effects_[effect];
    if (!levels_[level].is_shared || state.evidence <= 0) continue;
    const double of_data = state.value / variance_left(state) - state.mean / state.variance;
    learnt[levels_[level].name + "|" + name] = {.mean = of_data / state.evidence, .weight = state.evidence};
  }
  return learnt;
}

}  // namespace collage
