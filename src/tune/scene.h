// What the parts of one tune have in common.
// In: made by tune(). Out: references; all outlive the parts.
#pragma once

#include <stop_token>
#include <string>

#include "base/work_folder.h"
#include "measure/repro_keeper.h"
#include "store/store.h"
#include "tune/budget.h"
#include "tune/participants.h"
#include "tune/stages.h"
#include "tune/tune.h"
#include "worker/worker_process.h"

namespace collage {

struct Scene {
  const TuneOptions& options;  ///< with a stop that comes when the budget ends, too
  const std::stop_token& user_stop;
  const Budget& budget;
  Registry& registry;
  const WorkFolder& folder;
  Store& store;
  WorkerProcess& worker;
  ReproKeeper& repros;
  const Participants& who;
  const Prepared& prepared;
  const Progress& progress;

  void say(const std::string& phase) const { progress({.phase = phase, .note = {}}); }

  /// For pricing.
  [[nodiscard]] bool out_of_time() const {
    return options.stop.stop_requested() || budget.is_past(Budget::kPricingShare);
  }
  [[nodiscard]] CompileOptions compile() const { return {.threads = options.threads, .accuracy = options.accuracy}; }
  [[nodiscard]] bool is_engine(const std::string& name) const {
    const auto backend = registry.get(name);
    return backend && (*backend)->info().is_engine;
  }
  /// The shapes as they are bound.
  [[nodiscard]] std::string shapes_text() const {
    std::string text;
    for (const auto& [name, shape] : options.shapes.entries) text += name + "=" + shape + ";";
    return text;
  }
};

}  // namespace collage
