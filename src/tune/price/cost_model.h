// Predicts times of computations from measured times of others that share something with them: an operation, a library,
// an implementation. The logarithm of a time is a sum of effects, one for each thing that computations can share. The
// time of a computation of several parts is the sum of the parts' times.
// In:  computations described by their effects, measured times. Out: expected times and their uncertainty.
// How: effects are shrunk towards zero, more strongly the smaller the effects of their level usually are. An effect
//       that other models have shown is shrunk towards its mean there. For small changes, a sum of parts is linear in
//       the effects, so a chain of operators informs the times of its parts in proportion to their share. A time that
//       is improbably long is treated as an outlier and ignored, because a library's slow path says little about its
//       other paths; but if most times of an effect look like outliers, they are used.
// Example: MatMul takes 100 us on p and 50 us on q; Conv takes 200 us on p. Without shrinkage the backend effect is
// log(50/100), so Conv on q is forecast at 200 x 50/100 = 100 us.
// Cost: fit() takes a few sweeps over the effects of what was measured.
// Not here: which effects a candidate has (cost_bounds.h).
// Source: best linear unbiased prediction of random effects, Robinson, Statistical Science 1991; fitted by coordinate
//       descent (backfitting, Buja, Hastie and Tibshirani, Annals of Statistics 1989).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tune/price/effect_table.h"

namespace collage {

class CostModel {
 public:
  using Effect = std::uint32_t;

  struct Part {
    double base_ns = 1;  ///< what it would take if all effects were zero
    std::vector<Effect> effects;
  };
  struct Computation {
    std::vector<Part> parts;      ///< at least one
    std::vector<Effect> effects;  ///< of the whole
    double noise = 0.1;           ///< standard deviation of the logarithm of a time around the sum of its effects
  };
  struct Prediction {
    double ns = 0;             ///< as likely more as less
    double spread = 0;         ///< standard deviation of the logarithm
    double shared_spread = 0;  ///< the same, of what the effects of shared levels leave open
  };

  /// `known`: what was seen of effects before, by "level|name".
  explicit CostModel(EffectTable known = {}) : known_(std::move(known)) {}

  /// `deviation` is the standard deviation of the effects of a level, `is_shared` says that each bears on many
  /// computations at once.
  std::size_t add_level(std::string name, double deviation, bool is_shared);
  /// The effect of this name, the same for the same level and name.
  [[nodiscard]] Effect effect(std::size_t level, const std::string& name);

  /// The computation outlives the model.
  void learn(const Computation& computation, double ns);
  /// Until it is called predictions do not know what was learnt last.
  void fit();
  [[nodiscard]] Prediction predict(const Computation& computation) const;
  /// Whether a time bore on the effect, of this model as of the last fit() or of others before.
  [[nodiscard]] bool is_known(Effect effect) const {
    return effects_[effect].is_known || effects_[effect].evidence > 0;
  }
  /// What was learnt here of the effects of shared levels, as of the last fit().
  [[nodiscard]] EffectTable learnt() const;

 private:
  struct Row {
    const Computation* computation;
    double log_ns;
    double precision;  ///< 1 / variance of the noise
    bool is_doubted;   ///< teaches nothing
  };
  struct Term {
    std::uint32_t row;
    double weight;
  };
  struct Weight {
    Effect effect;
    double share;
  };
  /// What is known of an effect.
  struct State {
    std::size_t level = 0;
    double mean = 0;      ///< expected before anything is learnt
    double variance = 1;  ///< likewise, around the mean
    double value = 0;
    bool is_known = false;  ///< from other models
    double evidence = 0;    ///< what was learnt: 1 / variance of the value, were the other effects known
    std::vector<Term> terms;
  };
  struct Level {
    std::string name;
    double variance;
    bool is_shared;
  };

  [[nodiscard]] State state_of(std::size_t level, const std::string& name) const;
  [[nodiscard]] double part_ns(const Part& part) const;
  [[nodiscard]] double log_of(const Computation& computation) const;
  /// Effects of a computation, once each, with the share of its time that each bears on.
  [[nodiscard]] std::vector<Weight> weights(const Computation& computation) const;
  void linearise(std::vector<double>& residuals);
  void sweep(std::vector<double>& residuals);
  [[nodiscard]] static double variance_left(const State& effect);
  [[nodiscard]] bool is_odd(const Computation& computation, double log_ns) const;
  void believe_doubts_that_agree();

  EffectTable known_;
  std::vector<Level> levels_;
  std::vector<State> effects_;
  std::map<std::pair<std::size_t, std::string>, Effect> names_;
  std::vector<Row> rows_;
};

}  // namespace collage
