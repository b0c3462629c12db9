// State shared by a loaded plan and its sessions; internal to src/api/run.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "api/run/case_table.h"
#include "api/run/loaded_plan.h"
#include "api/run/shape_reader.h"
#include "plan/plan_cases.h"
#include "runtime/executable.h"

namespace collage {

struct LoadedPlan::State {
  State(PlanCases all, BackendSource source, LoadOptions load_options);

  /// The executable of a case, CaseTable::kNone for the generic plan; loaded when it is asked for first. Thread-safe.
  [[nodiscard]] Result<const Executable*> executable(std::size_t which);

  /// Whether a case is served by its own plan only: all shapes are known when the plan is loaded.
  [[nodiscard]] bool is_fixed() const;

  PlanCases cases;
  CaseTable table;
  ShapeReader reader;
  std::unique_ptr<Registry> registry;  ///< of a plan that found its backends itself; null else
  BackendSource backends;
  LoadOptions options;
  std::vector<TensorPort> inputs;
  std::vector<TensorPort> outputs;
  std::string file;  ///< it was loaded from, for errors; empty: none
  MachineVerdict verdict;
  std::size_t arena_bytes = 0;  ///< of the largest plan

 private:
  std::mutex mutex_;  ///< of the executables
  std::vector<std::optional<Executable>> loaded_;
  std::optional<Executable> generic_;
};

}  // namespace collage
