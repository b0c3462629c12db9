// The whole pipeline: import, record, simplify, propose, price, choose, confirm, realise.
// In: a model file and options. Out: a plan file that runs at least as fast as every rival measured here.
// Third-party code runs only in workers. Interrupted by the stop token it still writes the best plan it has.
// Cost: the budget.
// Source: Collage (Jeon et al., PACT 2022) and TVM's RFC 62.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/registry.h"
#include "backend/roles.h"
#include "base/progress.h"
#include "measure/repro_keeper.h"
#include "onnx/import.h"
#include "region/user_rules.h"
#include "tune/node_rules.h"
#include "tune/objective.h"
#include "tune/race.h"

namespace collage {

struct TuneOptions {
  std::string model;   ///< path of the .onnx file
  std::string output;  ///< path of the plan to write
  std::string replay;  ///< path of a plan whose decisions are taken (tune/replay.h); empty = they are searched
  ShapeBindings shapes;
  std::vector<std::string> backends = {kUsualBackends.begin(),
                                       kUsualBackends.end()};  ///< instances that may take nodes
  std::vector<std::string> required;  ///< instances or devices that must be here; the others may be missing
  std::optional<std::string>
      only;  ///< this instance, or the backends of this device, takes what it can; the host and the filler the rest
  std::vector<NodeRule> rules;  ///< --ban and --pin
  Objective objective;
  UserRules user_rules;  ///< --rules
  int threads = 1;
  Accuracy accuracy = Accuracy::kStandard;
  std::string cost_table;  ///< path to write every candidate with its cost to; empty = nowhere
  std::string store;       ///< path of the cost store, or "memory:"
  std::string repros;      ///< folder for reproduction bundles of backends' failures; empty = none are written
  std::uint64_t seed = 1;
  double budget_s = 300;
  bool measures_all = false;  ///< every candidate, not only those that a best cover may need
  std::chrono::nanoseconds compile_limit = std::chrono::seconds(60);  ///< for compiling one candidate
  std::chrono::nanoseconds run_limit = std::chrono::seconds(10);      ///< for running one, where nothing is known yet
  std::map<std::string, std::pair<double, double>> input_ranges;
  std::vector<std::string> worker_command;  ///< argv that starts a worker; the socket's number is appended
  Progress progress;
  std::stop_token stop;
};

struct RivalTime {
  std::string name;  ///< the engine, "ENGINE on the simplified graph"
  std::int64_t median_ns = 0;
  Verdict verdict = Verdict::kUnsure;  ///< what ships against it
};

/// What the costs of a cover's steps said, corrected by other plans' times, and what it took end to end.
struct Prediction {
  std::string cover;
  double predicted_us = 0;
  double measured_us = 0;
};

struct TuneReport {
  std::string plan;
  std::string model;
  int threads = 1;
  double tune_s = 0;
  std::size_t candidates = 0;
  std::size_t measured = 0;
  std::size_t reused = 0;
  std::size_t refused = 0;
  std::string cover;    ///< steps of the best cover under the cost table, as to_text() has them; "" without one
  double cover_us = 0;  ///< cost of the best cover under the cost table
  double model_bound_us = 0;
  double proven_bound_us = 0;
  double predicted_us = 0;
  double measured_us = 0;         ///< of what ships, end to end
  std::int64_t memory_bytes = 0;  ///< of what ships, as tune/objective.h counts them
  std::size_t steps = 0;
  std::map<std::string, std::size_t> backends;  ///< name -> steps
  std::vector<RivalTime> rivals;                ///< whole-model engines and single-backend plans
  std::vector<Prediction> predictions;          ///< of all covers that were timed
  std::string shipped;                          ///< "cover" or the rival's name
  std::vector<KeptRepro> repros;                ///< failures of backends, each kind once
  bool interrupted = false;
  std::vector<std::string> notes;
};

[[nodiscard]] Result<TuneReport> tune(const TuneOptions& options, Registry& registry);

/// The report as the JSON object of `tune --json` (schema collage.tune/1).
[[nodiscard]] std::string to_json(const TuneReport& report);

}  // namespace collage
