// What the pricing of one graph is given: who measures, the files of the graph, who converts values, who is told.
#pragma once

#include <string>
#include <vector>

#include "base/progress.h"
#include "measure/measure_options.h"
#include "measure/repro_keeper.h"
#include "tune/locations.h"

namespace collage {

struct PricingOptions {
  MeasureOptions measure;
  MeasuredGraph files;
  /// Some backends cannot run in one process with others: each is asked in a worker of its own.
  bool backends_apart = false;
  std::vector<std::string> converters;  ///< instances asked for conversions between the common formats at home
  Locations locations;                  ///< of backends elsewhere, who also move and convert values there
  bool free_borders = false;            ///< conversions cost next to nothing when a cover is chosen
  bool always_covers = true;  ///< the smallest candidates are priced after the deadline too, so that a cover exists
  Progress progress;
  ReproKeeper* repros = nullptr;  ///< told of failures; outlives the pricing
};

}  // namespace collage
