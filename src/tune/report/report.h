// The report of a tune.
// In:  the results of its stages (tune_result.h). Out: text, JSON, and the part of it that a plan stores.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "measure/repro_keeper.h"
#include "plan/plan_report.h"
#include "timing/race.h"
#include "tune/report/rule_effects.h"

namespace collage {

/// Another plan that was timed.
struct RivalTime {
  std::string name;   ///< in JSON: "ENGINE", "ENGINE on the simplified graph", a mixed plan's title
  std::string title;  ///< for people: "ENGINE as a whole", "mixed without A"
  std::int64_t median_ns = 0;
  Verdict verdict = Verdict::kUnsure;         ///< what ships against it
  std::optional<Ratio> ratio = std::nullopt;  ///< how many times faster what ships is; nothing after too few rounds
  bool is_engine = false;                     ///< runs the whole model
};

/// Why a tune came to its end.
enum class Ending : std::uint8_t {
  kComplete,    ///< nothing was left that might decide
  kBudget,      ///< the time was over before that
  kInterrupted  ///< a signal
};
/// "complete", "budget", "interrupted".
[[nodiscard]] std::string_view name_of(Ending ending);

/// How a tune ended, and what it left.
struct Ended {
  Ending why = Ending::kComplete;
  double stopped_s = 0;             ///< kInterrupted: when, since the start
  std::string phase;                ///< kInterrupted: what was being done
  std::size_t not_needed = 0;       ///< candidates without a time, since forecasts said that no best cover uses them
  std::size_t out_of_time = 0;      ///< likewise, since the budget was over
  std::size_t not_before_stop = 0;  ///< likewise, since a signal came
  [[nodiscard]] std::size_t unmeasured() const { return not_needed + out_of_time + not_before_stop; }
};

/// What the costs of a cover's steps said, corrected by other plans' times, and what it took end to end.
struct Prediction {
  std::string cover;
  double predicted_us = 0;
  double measured_us = 0;
};

/// What the best plan took at some moment of the tune.
struct BestSoFar {
  double seconds = 0;  ///< since the start
  double us = 0;
};

/// A kernel whose settings were tuned.
struct TunedKernel {
  std::string operators;  ///< "Conv+Relu"
  std::string backend;
  std::string variant;     ///< the fastest one
  std::size_t places = 0;  ///< regions of this structure
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  std::size_t tried = 0;
  std::size_t refused = 0;  ///< of these
};

/// What tuning schedules tried and gained.
struct ScheduleReport {
  double seconds = 0;
  std::size_t known = 0;  ///< candidates with settings that earlier tunes found
  std::size_t tried = 0;
  std::size_t refused = 0;
  std::int64_t before_ns = 0;  ///< cost of the best cover
  std::int64_t after_ns = 0;
  std::vector<TunedKernel> kernels;
};

/// What it costs that only backends of a library run nodes (--deploy library).
struct LibraryCost {
  std::string title;  ///< of the fastest plan timed beside it, which needs other libraries
  double us = 0;
  double ratio = 0;  ///< what ships against it: 1.1 takes a tenth longer
};

struct TuneReport {
  std::string plan;
  std::string model;
  int threads = 1;
  std::set<std::string> passes_off = {};  ///< --passes
  double tune_s = 0;
  std::size_t candidates = 0;
  std::size_t measured = 0;
  std::size_t reused = 0;
  std::size_t refused = 0;
  std::string stage;    ///< the value of the stage that --dump names
  std::string cover;    ///< steps of the best cover under the cost table, as to_text() has them; "" without one
  double cover_us = 0;  ///< cost of the best cover under the cost table
  double model_bound_us = 0;
  double proven_bound_us = 0;
  double predicted_us = 0;
  double measured_us = 0;                       ///< of what ships, end to end
  std::int64_t memory_bytes = 0;                ///< of what ships, as tune/objective.h counts them
  std::size_t steps = 0;                        ///< of what ships, those inside bodies included
  std::size_t views = 0;                        ///< of these: nothing runs
  std::map<std::string, std::size_t> backends;  ///< name -> steps; they add up to `steps`
  std::map<std::string, double> shares;         ///< name -> part of the time, conversions included; empty for an engine
  std::vector<BestSoFar> curve;                 ///< after each contest
  std::optional<double> second_half_gain =
      std::nullopt;                     ///< part of the best cover's cost that the second half of measuring saved
  std::vector<RivalTime> rivals;        ///< whole-model engines and single-backend plans, the fastest first
  std::vector<Prediction> predictions;  ///< of all covers that were timed
  ScheduleReport schedules;
  std::string shipped;                                     ///< "cover" or the rival's name
  std::string title;                                       ///< of what ships, for people
  std::vector<KeptRepro> repros;                           ///< failures of backends, each kind once
  std::vector<RuleEffect> rules;                           ///< --pin, --ban and --rules
  bool for_library = false;                                ///< --deploy library
  std::optional<LibraryCost> library_cost = std::nullopt;  ///< nothing when no such plan ran
  Ended ended;
  bool interrupted = false;
  std::vector<std::string> notes;
};

/// The fastest engine that runs the whole model and does not ship; null when none was timed.
[[nodiscard]] const RivalTime* best_engine(const TuneReport& report);

/// For people.
[[nodiscard]] std::string to_text(const TuneReport& report);
/// How it ended and what was left, in lines; for one tune or for several together.
[[nodiscard]] std::string to_text(const Ended& ended);

/// The report as the JSON object of `tune --json` (schema collage.tune/1).
[[nodiscard]] std::string to_json(const TuneReport& report);

/// What a plan keeps of it.
[[nodiscard]] PlanReport plan_report(const TuneReport& report, Explanation explanation);

}  // namespace collage
