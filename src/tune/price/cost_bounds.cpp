#include "tune/price/cost_bounds.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backend/narrow_element.h"
#include "region/narrow_variant.h"
#include "store/keys.h"
#include "tune/price/deviations.h"
#include "tune/price/normal_distribution.h"
#include "tune/price/region_work.h"

namespace collage {
namespace {

/// How many deviations less than expected: of what is not known of its like, of all that is not known.
constexpr double kOpenMind = 1.5;
constexpr double kHope = 2;
/// Of the time in full precision, before anything is known.
/// Half where multiplying or moving numbers takes the time, a quarter of that of products in tiles; of three such
/// products for one half. Integers are not multiplied in tiles. Float16 is not multiplied: heavy operators gain by it
/// only where they wait for their weights, between full ports.
double share_of(const Variant& variant, bool is_heavy) {
  const std::optional<ElementType> type = narrow_element_in(variant);
  if (!type) return is_heavy && is_split(variant) ? 0.5 : 1;
  if (type == ElementType::kInt16) return 0.5;
  if (type == ElementType::kFloat16) return is_heavy && has_narrow_port(variant) ? 1 : 0.5;
  return is_heavy && multiplies_tiles() ? 0.25 : 0.5;
}

/// How a variant computes: its name up to a plus. What follows that says what is fused, which the rest of the region
/// says too, or that floats are split.
std::string way_of(const Variant& variant) {
  std::string way = variant.name.substr(0, variant.name.find('+'));
  if (is_split(variant)) way += "+" + std::string(kSplitFloats);
  return way;
}

/// What ways of a backend have in common that differ by formats and by settings of a schedule: the name up to a dot or
/// a slash.
std::string algorithm_of(const Candidate& candidate) {
  const std::string way = way_of(candidate.variant);
  return candidate.backend + "/" + way.substr(0, way.find_first_of("./"));
}

/// What effects of a class of candidates are of.
struct OwnLevels {
  std::size_t backend, kind_of_backend, operation_of_backend;
  std::size_t algorithm, kind_of_algorithm, operation_of_algorithm, size_of_algorithm;
  std::size_t way, kind_of_way, operation_of_way, rest, rest_of_way, formats, several, narrow;
  double noise;

  OwnLevels(CostModel& model, const std::string& of, const Deviations& deviations)
      : backend(model.add_level(of + "backend", deviations.backend, true)),
        kind_of_backend(model.add_level(of + "kind of backend", deviations.kind_of_backend, true)),
        operation_of_backend(model.add_level(of + "operation of backend", deviations.operation_of_backend, false)),
        algorithm(model.add_level(of + "algorithm", deviations.algorithm, true)),
        kind_of_algorithm(model.add_level(of + "kind of algorithm", deviations.kind_of_algorithm, true)),
        operation_of_algorithm(
            model.add_level(of + "operation of algorithm", deviations.operation_of_algorithm, false)),
        size_of_algorithm(model.add_level(of + "size of algorithm", deviations.size_of_algorithm, true)),
        way(model.add_level(of + "way", deviations.way, true)),
        kind_of_way(model.add_level(of + "kind of way", deviations.kind_of_way, true)),
        operation_of_way(model.add_level(of + "operation of way", deviations.operation_of_way, false)),
        rest(model.add_level(of + "rest", deviations.rest, true)),
        rest_of_way(model.add_level(of + "rest of way", deviations.rest_of_way, true)),
        formats(model.add_level(of + "formats", deviations.formats, true)),
        several(model.add_level(of + "several", deviations.several, true)),
        narrow(model.add_level(of + "narrow", deviations.narrow, true)),
        noise(deviations.noise) {}
};

struct Levels {
  std::size_t all, kind, operation, region;
  OwnLevels heavy, light, engines;

  explicit Levels(CostModel& model)
      : all(model.add_level("all", 1, true)),
        kind(model.add_level("kind", 0.55, true)),
        operation(model.add_level("operation", 0.25, false)),
        region(model.add_level("region", 0.05, false)),
        heavy(model, "", kHeavyDeviations),
        light(model, "light ", kLightDeviations),
        engines(model, "engine ", kEngineDeviations) {}

  [[nodiscard]] const OwnLevels& of(bool is_engine, bool is_heavy) const {
    if (is_engine) return engines;
    return is_heavy ? heavy : light;
  }
};

/// The same for times within a factor of four.
int size_class(double ns) { return std::ilogb(ns) / 2; }

/// How fast an algorithm of a backend is where operators are of this kind.
CostModel::Effect algorithm_on_kind(CostModel& model, const OwnLevels& own, const std::string& algorithm,
                                    const Work& part) {
  return model.effect(own.kind_of_algorithm, algorithm + "|" + part.kind);
}

CostModel::Computation computation_of(CostModel& model, const Levels& levels, const RegionWork& work,
                                      const Candidate& candidate, bool is_engine) {
  const std::string& backend = candidate.backend;
  const Variant& variant = candidate.variant;
  const std::string way = backend + "/" + way_of(variant);
  const std::string algorithm = algorithm_of(candidate);
  // Between light operators overheads count, between heavy ones kernels: what one shows says nothing of the other.
  const auto weight_of = [](const Work& part) { return std::string(part.is_heavy ? "heavy " : "light "); };
  CostModel::Computation made;
  for (const auto& part : work.parts) {
    const std::string weight = weight_of(*part);
    const OwnLevels& own = levels.of(is_engine, part->is_heavy);
    made.parts.push_back(
        {.base_ns = share_of(variant, part->is_heavy) * part->roofline_ns,
         .effects = {model.effect(levels.all, ""), model.effect(levels.kind, part->kind),
                     model.effect(levels.operation, part->operation), model.effect(own.backend, weight + backend),
                     model.effect(own.kind_of_backend, backend + "|" + part->kind),
                     model.effect(own.operation_of_backend, backend + "|" + part->operation),
                     model.effect(own.algorithm, weight + algorithm), algorithm_on_kind(model, own, algorithm, *part),
                     model.effect(own.operation_of_algorithm, algorithm + "|" + part->operation),
                     model.effect(own.size_of_algorithm,
                                  fmt::format("{}{}|{}", weight, algorithm, size_class(part->roofline_ns))),
                     model.effect(own.way, weight + way), model.effect(own.kind_of_way, way + "|" + part->kind),
                     model.effect(own.operation_of_way, way + "|" + part->operation)}});
    if (is_narrow(variant)) made.parts.back().effects.push_back(model.effect(own.narrow, weight + backend));
  }
  const Work& first = *work.parts.front();
  const OwnLevels& own = levels.of(is_engine, first.is_heavy);
  made.noise = own.noise;
  if (work.heavy_parts() > 1) {
    made.effects = {model.effect(own.several, backend + "/" + variant.name)};
    return made;
  }
  made.effects = {model.effect(levels.region, first.operation + "|" + work.rest),
                  model.effect(own.rest, backend + "|" + work.rest),
                  model.effect(own.rest_of_way, backend + "/" + variant.name + "|" + work.rest),
                  model.effect(own.formats, weight_of(first) + way + "|" + names_of(variant.input_formats) +
                                                names_of(variant.output_formats))};
  return made;
}

/// Of an estimate: how far it is from the time. What is known of one backend, way or region says so of others.
struct EstimateLevels {
  std::size_t all, backend, way, region;

  explicit EstimateLevels(CostModel& model)
      : all(model.add_level("estimate", 0.5, true)),
        backend(model.add_level("estimate of backend", 0.3, true)),
        way(model.add_level("estimate of way", 0.2, true)),
        region(model.add_level("estimate of region", 0.2, false)) {}
};

CostModel::Computation estimated_computation(CostModel& model, const EstimateLevels& levels, double ns,
                                             const Candidate& candidate) {
  return {.parts = {{.base_ns = ns,
                     .effects = {model.effect(levels.all, "estimated"), model.effect(levels.backend, candidate.backend),
                                 model.effect(levels.way, candidate.backend + "/" + candidate.variant.name),
                                 model.effect(levels.region, std::to_string(candidate.region))}}},
          .effects = {}};
}

}  // namespace

CostBounds::CostBounds(const Graph& graph, const CandidatePool& pool, Accuracy accuracy, const PeakRates& peak,
                       int threads, const Estimates& estimates, EffectTable known, const IsEngine& is_engine)
    : peak_(peak), model_(std::move(known)) {
  WorkOfRegions work(graph, peak, threads);
  std::vector<RegionWork> works;
  for (const Region& region : pool.regions) {
    roofline_.push_back(roofline_ns(graph, region, accuracy, peak, threads));
    works.push_back(work.of(region));
  }
  const Levels levels(model_);
  const EstimateLevels estimate_levels(model_);
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    const Candidate& candidate = pool.candidates[c];
    region_of_.push_back(candidate.region);
    backend_of_.push_back(candidate.backend);
    is_of_engine_.push_back(is_engine && is_engine(candidate.backend));
    if (c < estimates.size() && estimates[c]) {
      computations_.push_back(estimated_computation(model_, estimate_levels, *estimates[c], candidate));
      algorithm_of_.emplace_back();
      continue;
    }
    const RegionWork& of_region = works[candidate.region];
    computations_.push_back(computation_of(model_, levels, of_region, candidate, is_of_engine_[c]));
    const Work& first = *of_region.parts.front();
    algorithm_of_.emplace_back(
        algorithm_on_kind(model_, levels.of(is_of_engine_[c], first.is_heavy), algorithm_of(candidate), first));
  }
}

std::int64_t CostBounds::roofline(std::uint32_t region) const {
  return region < roofline_.size() ? static_cast<std::int64_t>(nearest_ * static_cast<double>(roofline_[region])) : 0;
}

CostModel::Prediction CostBounds::predict(std::size_t candidate) const {
  CostModel::Prediction prediction = model_.predict(computations_[candidate]);
  const double factor = errors_.factor(backend_of_[candidate]);
  prediction.spread *= factor;
  prediction.shared_spread *= factor;
  return prediction;
}

std::int64_t CostBounds::forecast(std::size_t candidate, Forecast kind) const {
  const CostModel::Prediction expected = predict(candidate);
  double less = 0;
  if (kind == Forecast::kOpenMinded) less = kOpenMind * expected.shared_spread;
  if (kind == Forecast::kHopeful) less = kHope * expected.spread;
  return std::max(roofline(region_of_[candidate]), static_cast<std::int64_t>(expected.ns * std::exp(-less)));
}

double CostBounds::expected_saving(std::size_t candidate, double even_ns) const {
  if (even_ns <= 0) return 0;
  const CostModel::Prediction expected = predict(candidate);
  const double distance = std::log(even_ns / expected.ns) / expected.spread;
  const double mean_ns = expected.ns * std::exp(expected.spread * expected.spread / 2);
  return even_ns * normal_probability_below(distance) - mean_ns * normal_probability_below(distance - expected.spread);
}

std::optional<std::uint32_t> CostBounds::untried_algorithm(std::size_t candidate) const {
  const auto& effect = algorithm_of_[candidate];
  return effect && !is_of_engine_[candidate] && !model_.is_known(*effect) ? effect : std::nullopt;
}

void CostBounds::learn(std::size_t candidate, const Cost& cost) {
  const bool was_run = std::holds_alternative<Measured>(cost) || is_sampled(cost);
  if (!was_run || *nanoseconds_of(cost) == 0) return;
  const auto ns = static_cast<double>(*nanoseconds_of(cost));
  const CostModel::Prediction forecast = model_.predict(computations_[candidate]);
  errors_.add(backend_of_[candidate], std::log(ns / forecast.ns) / forecast.spread);
  model_.learn(computations_[candidate], ns);
  const std::int64_t least = roofline_[region_of_[candidate]];
  if (least > 0) nearest_ = std::min(nearest_, ns / static_cast<double>(least));
}

}  // namespace collage
