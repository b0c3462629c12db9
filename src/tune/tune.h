// The whole pipeline: import, record, simplify, propose, price, choose, confirm, realise; docs/TUNING.md describes it.
// In:  a model file and options. Out: a plan file that runs at least as fast as every rival measured here.
// Third-party code runs only in workers. If interrupted by the stop token, it still writes the best plan found so far.
// Cost: the budget.
// Source: Collage (Jeon et al., PACT 2022) and TVM's RFC 62.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/registry.h"
#include "backend/roles.h"
#include "base/progress.h"
#include "measure/measure_options.h"
#include "numbers/output_bound.h"
#include "onnx/import.h"
#include "region/rules/user_rules.h"
#include "sandbox/model_reader.h"
#include "tune/ablation.h"
#include "tune/estimator.h"
#include "tune/node_rules.h"
#include "tune/objective.h"
#include "tune/report/report.h"

namespace collage {

struct Prepared;

struct TuneOptions : MeasureOptions {
  std::string model;       ///< path of the .onnx file
  std::string model_name;  ///< what plan and reports call it; empty = by its path
  std::string output;      ///< path of the plan to write
  std::string replay;      ///< path of a plan whose decisions are taken (tune/replay.h); empty = they are searched
  ShapeBindings shapes;
  std::vector<std::string> backends = {kUsualBackends.begin(),
                                       kUsualBackends.end()};  ///< instances that may take nodes
  std::vector<std::string> required;  ///< instances or devices that must be here; the others may be missing
  std::optional<std::string>
      only;  ///< this instance, or the backends of this device, takes what it can; the host and the filler the rest
  std::optional<OutputBound> bound;  ///< the user's own on the model's outputs; nothing = that of the accuracy class
  std::vector<NodeRule> rules;       ///< --ban and --pin
  Objective objective;
  UserRules user_rules;              ///< --rules
  EstimateOptions estimates;         ///< a cost estimator of the user's
  std::set<std::string> passes_off;  ///< --passes: these do not simplify the graph
  ModelReader reader;                ///< of the model's file
  std::string dump;        ///< a stage whose value the report keeps as text (tune/report/stage_dump.h); empty = none
  std::string resume;      ///< path of costs that --dump priced wrote: they are not measured; empty = none
  std::string cost_table;  ///< path to write every candidate with its cost to; empty = nowhere
  std::string store;       ///< path of the cost store, or "memory:"
  std::string repros;      ///< folder for reproduction bundles of backends' failures; empty = none are written
  Ablations ablations;     ///< what is left out, for evaluations
  double budget_s = 60;
  double tune_budget_s = 0;   ///< on top of it: for schedules beyond those that backends offer
  bool portable = false;      ///< kernels for processors with fewer instructions too, after the budget
  bool measures_all = false;  ///< every candidate, not only those that a best cover may need
  std::map<std::string, std::pair<double, double>> input_ranges;
  /// Called with what the plan was made of before its files go away; an error ends the tune. Empty = not called.
  std::function<Result<void>(const Prepared&)> on_prepared;
  Progress progress;
  std::stop_token stop;

  [[nodiscard]] OutputBound output_bound() const { return bound.value_or(OutputBound{.accuracy = accuracy}); }
  [[nodiscard]] const std::string& name_of_model() const { return model_name.empty() ? model : model_name; }
};

[[nodiscard]] Result<TuneReport> tune(const TuneOptions& options, Registry& registry);

}  // namespace collage
