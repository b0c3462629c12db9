// What the plans in a folder gain: a row for each plan, and for each shape of a plan for many.
// In:  files and folders. Out: rows, from what tunes stored in the plans; nothing is run or measured.
// Cost: reads each plan and checks its bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "plan/plan_report.h"

namespace collage {

struct ListedPlan {
  std::string file;  ///< as found: the folder that was given, and the path in it
  std::string model;
  std::string shape;  ///< "batch=4"; empty for a plan of fixed shapes
  std::string machine;
  std::string accuracy;
  std::string shipped;  ///< for people: "mixed", "ENGINE as a whole"
  int threads = 1;
  std::size_t steps = 0;
  double us = 0;                              ///< end to end, when it was tuned; 0 = not known
  std::optional<TimedPlan> rival;             ///< the engine that is hardest to beat, of those timed against it
  std::map<std::string, double> shares = {};  ///< backend -> part of the time of all steps, each alone
};

struct PlanList {
  std::vector<ListedPlan> plans;  ///< by file, then shape
  std::vector<Error> unreadable;  ///< of files that end in .collage and cannot be read as plans
};

/// Of these files, and of all files that end in .collage in these folders and below. Error plan/nothing-found where
/// there are none; file/* for a path that does not exist.
[[nodiscard]] Result<PlanList> list_plans(const std::vector<std::string>& paths);

/// The geometric mean of how many times faster the plans are than their rivals, 1 for those in which an
/// engine ships; nothing when none was timed.
[[nodiscard]] std::optional<double> mean_gain(const PlanList& list);

/// The table for people, and the JSON object of `report --json` (schema collage.report/1).
[[nodiscard]] std::string to_text(const PlanList& list);
[[nodiscard]] std::string to_json(const PlanList& list);
/// Comma-separated values (RFC 4180), the names of columns first.
[[nodiscard]] std::string to_csv(const PlanList& list);

}  // namespace collage
