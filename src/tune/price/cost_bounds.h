// Forecasts the costs of candidates that were not measured, and bounds them from below.
// In:  measured costs as they arrive. Out: forecasts, either expected or with some optimism; the roofline, which is the
//       only proven bound.
// How: the time of a region is spent in its heavy operators (convolutions, matrix products), or in the whole region
//       when it has none; these are its parts. The time of a part is its roofline times effects (cost_model.h): of the
//       operation, of its kind at any size, of the backend, of how the backend computes it (variant, formats), and of
//       pairs of these. How far they usually are from none differs between heavy operators of kernels, light ones, and
//       engines. The rest of the region, and computing several parts in one step, are effects of the whole
//       region. Few measured times thus forecast most others. Where the user's estimator gave a time, that takes the
//       place of the roofline: its effects are how much it is wrong, for all, for a backend, for a way, for a region.
//       How uncertain forecasts are follows from the model and from how wrong it was so far (forecast_errors.h).
// Cost: a prediction takes one look-up for each part and effect.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/roofline.h"
#include "region/candidates.h"
#include "region/cost.h"
#include "tune/objective.h"
#include "tune/price/cost_model.h"
#include "tune/price/estimates.h"
#include "tune/price/forecast_errors.h"

namespace collage {

enum class Forecast : std::uint8_t {
  kExpected,    ///< as likely too high as too low
  kOpenMinded,  ///< less by what is not known of all that are like it
  kHopeful,     ///< as little as one may hope for
};

class CostBounds {
 public:
  /// Answers for the candidates the pool has now. `estimates` are by candidate; none for an empty one. `known`: what
  /// tunes of other models have shown of the effects. `is_engine`: which backends also run whole models; none by
  /// default.
  CostBounds(const Graph& graph, const CandidatePool& pool, Accuracy accuracy, const PeakRates& peak, int threads,
             const Estimates& estimates = {}, EffectTable known = {}, const IsEngine& is_engine = nullptr);

  /// No candidate for this region of the pool takes less, as far as the machine has shown; 0 for regions that came
  /// later.
  [[nodiscard]] std::int64_t roofline(std::uint32_t region) const;
  /// Nanoseconds; at least the roofline.
  [[nodiscard]] std::int64_t forecast(std::size_t candidate, Forecast kind) const;
  /// What a candidate should save, in nanoseconds, that is only taken where it needs less than `even_ns`: the mean of
  /// what it saves over all times that it may need, none where it is not taken.
  [[nodiscard]] double expected_saving(std::size_t candidate, double even_ns) const;
  /// With the deviations of forecasts as they have shown themselves.
  [[nodiscard]] CostModel::Prediction predict(std::size_t candidate) const;
  /// The same number for candidates whose first part is of one kind and is computed by one algorithm of a backend,
  /// where no time of such a candidate is known, of this model or of others: of how fast that is the forecast says
  /// little. Nothing for engines, which do not say how they compute.
  [[nodiscard]] std::optional<std::uint32_t> untried_algorithm(std::size_t candidate) const;
  [[nodiscard]] bool is_of_engine(std::size_t candidate) const { return is_of_engine_[candidate]; }
  /// Costs that are not measured teach nothing. Of candidates that are the same computation one is enough.
  void learn(std::size_t candidate, const Cost& cost);
  /// Until it is called forecasts do not know what was learnt last.
  void fit() {
    model_.fit();
    errors_.fit();
  }
  /// What was learnt here that says something of other models too.
  [[nodiscard]] EffectTable learnt() const { return model_.learnt(); }
  /// Of one thread.
  [[nodiscard]] const PeakRates& peak() const { return peak_; }

 private:
  PeakRates peak_;
  std::vector<std::uint32_t> region_of_;  ///< by candidate
  std::vector<std::string> backend_of_;   ///< by candidate
  std::vector<bool> is_of_engine_;        ///< by candidate
  std::vector<std::int64_t> roofline_;    ///< by region, under the peak rates
  double nearest_ = 1;  ///< least part of it that a candidate took: peak rates may be of a slow moment of the machine
  CostModel model_;
  ForecastErrors errors_;
  std::vector<CostModel::Computation> computations_;            ///< by candidate
  std::vector<std::optional<CostModel::Effect>> algorithm_of_;  ///< likewise; none where there is an estimate
};

}  // namespace collage
