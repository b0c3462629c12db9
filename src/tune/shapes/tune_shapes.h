// Tunes one model for a domain of shapes. The plan file contains a plan for every sampled point, made by the whole
// pipeline (tune/tune.h), and the fastest engine with open dimensions for all other points.
// In:  a model, `--shape` bindings with ranges, points that the user asks for. Out: the plan file, a report.
// How: the sampled points (shape_samples.h) share the budget by weight. Equal regions of different points are measured
//       once, through the cost store. The remaining time goes to points halfway between neighbours whose plans differ.
//       Engines with open dimensions are checked and timed at every point, on its record.
// Cost: the budget.
// Source: sampled sizes and dispatch: TVM's Relay VM and DietCode (Zheng et al., MLSys 2022).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tune/shapes/shape_samples.h"
#include "tune/tune.h"

namespace collage {

struct ShapesOptions {
  TuneOptions tune;                ///< for the whole: budget_s is that of all points
  std::vector<std::string> asked;  ///< points that are cases in any event (parse_sample)
  std::size_t most_points = 16;    ///< of the ladder and between its points
};

/// One point and what its tune told.
struct ShapeReport {
  ShapeSample sample;
  double generic_us = 0;  ///< of the generic plan that ships; 0 = not timed
  double case_us = 0;     ///< of the case's plan, beside it
  TuneReport report;
};

struct ShapesReport {
  std::string plan;
  std::string model;
  int threads = 1;
  double tune_s = 0;
  ShapeDomain domain;
  std::vector<ShapeReport> cases;               ///< by point
  std::string generic;                          ///< name of the generic plan; "" = none
  std::map<std::string, double> generic_times;  ///< geometric mean over the points of each that was tried, microseconds
  bool interrupted = false;
  std::vector<std::string> notes;
};

/// Whether the bindings have ranges, so that tune_shapes() is meant.
[[nodiscard]] bool has_ranges(const ShapeBindings& bindings);

/// Errors: those of import_open, parse_sample; those of tune() when no point gets a plan.
[[nodiscard]] Result<ShapesReport> tune_shapes(const ShapesOptions& options, Registry& registry);

/// For people, and the JSON object of `tune --json` (schema collage.tune-shapes/1).
[[nodiscard]] std::string to_text(const ShapesReport& report);
[[nodiscard]] std::string to_json(const ShapesReport& report);

}  // namespace collage
