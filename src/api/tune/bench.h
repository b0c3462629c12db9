// Times a plan, or a bare model, against whole-model engines on the same inputs, in interleaved rounds in one process;
// rivals that are programs of their own take part over a pipe, timed by their own clock.
// In:  a plan or a model, rivals, seconds. Out: medians and paired ratios with confidence intervals.
//
// A rival gets the user's file with dimensions bound and initialisers repaired, runs with all its optimisations, in
// f32, with the same number of threads, and with inputs and outputs bound beforehand. If it refuses that file it gets
// the simplified graph, and its row says so. All outputs are compared with those of the reference in the plan's
// accuracy class; in class fast, where what 16 bits err differs from input to input, on further sets of inputs, too. A
// contender with wrong numbers is timed and named, but counts in no summary.
// Cost: the given seconds, loading, one run of the reference for each set of inputs.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/tune/contender_check.h"
#include "api/tune/rival_program.h"
#include "backend/registry.h"
#include "backend/roles.h"
#include "base/progress.h"
#include "onnx/import.h"
#include "plan/signature/key.h"
#include "sandbox/model_reader.h"
#include "timing/race.h"

namespace collage {

struct BenchOptions {
  std::string plan;                    ///< a plan, or a .onnx model, which runs with an unmeasured plan
  Signers signers;                     ///< one of them must have signed the plan; empty = any plan, or a model
  Signers rival_signers;               ///< the same for the plans in `against`
  ModelReader reader;                  ///< of models
  ShapeBindings shapes;                ///< of a model, or of a plan of many shapes: which one
  std::optional<std::string> model;    ///< the model's present path; default: the path in the plan
  std::vector<std::string> against;    ///< engines, or paths of other plans of the model; empty = the usual rivals
  std::vector<RivalCommand> programs;  ///< rivals that are programs of their own, beside those of `against`
  int threads = 0;                     ///< 0 = as the plan was tuned
  std::uint64_t seed = 1;
  double seconds = 5;
  std::map<std::string, std::pair<double, double>> input_ranges;
  Progress progress;
  std::stop_token stop;
};

struct BenchContender {
  std::string name;  ///< "collage", or the rival's
  std::string version;
  double load_ms =
      0;  ///< from its stored bytes until it is ready to run: of the plan file, or what a plan of it stores
  /// Of an engine, from the bytes of the user's model; nothing where it refuses them, and for plans.
  std::optional<double> session_ms = std::nullopt;
  std::string note;       ///< for example "on the simplified graph: the engine refuses the file"
  std::string precision;  ///< what it computes in: "f32"
  NumbersCheck numbers = {};
  RaceLane lane;
};

struct BenchRatio {
  std::string against;
  Ratio ratio;         ///< above 1: the plan is faster
  bool counts = true;  ///< in summaries: it gives the right numbers
};

struct BenchReport {
  std::string model;
  std::string shape;  ///< "batch=4, seq=64"; empty for a plan of fixed shapes
  int threads = 1;
  std::vector<BenchContender> contenders;  ///< the plan first
  std::vector<BenchRatio> ratios;
  bool interrupted = false;  ///< fewer rounds than asked for
  std::vector<std::string> notes;
};

/// The rival that is hardest to beat among those that count; null when there is none.
[[nodiscard]] const BenchRatio* best_rival(const BenchReport& report);
/// Whether the plan's numbers differ from the reference's.
[[nodiscard]] bool has_wrong_plan(const BenchReport& report);

/// A plan of fixed shapes or a model; of a plan of many shapes the one that the bindings say.
[[nodiscard]] Result<BenchReport> bench(const BenchOptions& options, Registry& registry);

/// The table for people, and the JSON object of `bench --json` (schema collage.bench/1).
[[nodiscard]] std::string to_text(const BenchReport& report);
[[nodiscard]] std::string to_json(const BenchReport& report);

}  // namespace collage
