// Memory from one model to the next: what tunes on this machine have shown of the effects of the cost model.
// In:  a store, a tune. Out: what to expect before anything is measured; and in the store, what this tune has shown.
// How: one record for each graph. A graph that was tuned before gets the expectations of its first tune again, so that
//      the same tune asks for the same candidates, whatever was tuned in between.
// Not here: what expectations do to forecasts (cost_model.h). They only order the work: no candidate is chosen for one.
#pragma once

#include <string>

#include "measure/measure_options.h"
#include "region/region.h"
#include "store/store.h"
#include "tune/price/effect_table.h"

namespace collage {

class PricingMemory {
 public:
  PricingMemory(Store& store, const Graph& graph, const MeasureOptions& options);

  /// By tunes of other graphs with these options, and by what came with the installation.
  [[nodiscard]] const EffectTable& known() const { return known_; }
  /// For tunes of other graphs.
  void keep(const EffectTable& learnt);

 private:
  Store& store_;
  int threads_;
  std::string key_;
  EffectTable known_;
};

}  // namespace collage
