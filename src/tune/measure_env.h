// The environment in which every stage of a tune works: backends, store, worker, budget. The values that depend on the
// model are passed from stage to stage separately. Made by tune(); everything referred to outlives the stages.
#pragma once

#include <stop_token>
#include <string>

#include "backend/registry.h"
#include "base/progress.h"
#include "base/work_folder.h"
#include "measure/pricer.h"
#include "measure/repro_keeper.h"
#include "store/store.h"
#include "tune/budget.h"
#include "tune/confirm/plan_packer.h"
#include "tune/deadline_log.h"
#include "tune/objective.h"
#include "tune/report/progress_meter.h"
#include "tune/report/stage_dump.h"
#include "worker/worker_process.h"

namespace collage {

/// One thread.
struct MeasureEnv {
  Registry& registry;
  const WorkFolder& folder;
  Store& store;
  WorkerProcess& worker;
  ReproKeeper& repros;
  PlanPacker& packer;
  Budget& budget;
  DeadlineLog& deadlines;
  ProgressMeter& meter;
  const Progress& progress;
  StageDump& dump;
  std::stop_token user_stop;  ///< the user's signal
  std::stop_token stop;       ///< that, or the end of the budget once there is a plan

  void say(const std::string& phase) const { progress({.phase = phase, .note = {}}); }

  [[nodiscard]] bool is_engine(const std::string& name) const { return engines_of(registry)(name); }
  /// Until when candidates are measured.
  [[nodiscard]] MeasureLimits limits() const {
    return {.deadline = budget.after(Budget::kPricingShare),
            .latest = budget.after(Budget::kMeasuringShare),
            .stop = stop,
            .least_saving = budget.least_saving()};
  }
  /// For measuring candidates.
  [[nodiscard]] bool out_of_time() const { return stop.stop_requested() || budget.is_past(Budget::kPricingShare); }
};

}  // namespace collage
