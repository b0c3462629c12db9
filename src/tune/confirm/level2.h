// Level 2 as a part of a tune: covers with engines' regions of any size are made real plans and timed beside the best
// plan so far, within a share of the budget.
// In:  what level 1 chooses from, the plans already timed, functions that realise and time a plan. Out: a plan that
//       appears to beat all of them, or nothing. The guard decides afterwards.
// The answer is stored: the same question asked again costs one choose_cover for each genome considered, and no
// measurement.
// Cost: at most a quarter of the budget and one more evaluation. Nothing if no engine could take at least two blocks
//       that it does not run already.
// Not here: the search (search/evolve.h), the rounds of the guard (guard.h).
// Source: graph-level placement of Collage (Jeon et al., PACT 2022), bounded in time.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/work_folder.h"
#include "region/variant.h"
#include "search/evolve.h"
#include "store/store.h"
#include "tune/confirm/confirm.h"
#include "tune/confirm/contest.h"
#include "tune/confirm/guard.h"
#include "tune/confirm/plan_packer.h"
#include "tune/node_rules.h"
#include "tune/price/priced.h"

namespace collage {

struct Level2Request {
  Level2Problem problem;
  std::string question;  ///< what the answer depends on besides level 1's cover: model, machine, backends, seed
  std::vector<const Contestant*> timed;  ///< plans of the same graph whose times are known, those that failed too
  std::int64_t best_ns = 0;              ///< of the plan to beat
  std::function<Result<RealisedPlan>(const Cover&)> realise;
  std::function<Result<Evaluation>(const RealisedPlan&)> time;
  double seconds = 75;  ///< for the search
  EvolveOptions evolve;
  Progress progress;
};

struct EvolvedPlan {
  Cover cover;
  RealisedPlan plan;
};

/// Nothing when no plan beats what is there, or a stop came first. Never an error of a single plan.
[[nodiscard]] std::optional<EvolvedPlan> find_evolved_plan(const Level2Request& request, Store& store);

/// What a search may take of a tune's budget: a quarter, no more than is left, and for a model whose tune was short so
/// far at most half of that again.
[[nodiscard]] double level2_seconds(double budget_s, double elapsed_s);

/// An engine's way to run a region with plain ports that the user's rules allow, or why there is none.
[[nodiscard]] std::expected<Variant, Refusal> plain_variant(Registry& registry, const std::string& engine,
                                                            const Graph& graph, const Region& region,
                                                            std::span<const NodeRule> rules,
                                                            const CompileOptions& options);

/// The engines' regions of an evolved cover that level 1 does not know become candidates, priced like all others; the
/// cover's steps get these costs, corrected, so that they teach in their turn.
[[nodiscard]] Result<void> add_engine_regions(const TuneTask& task, const Corrections& corrections,
                                              const MeasureLimits& limits, Cover& cover, Priced& priced);

/// Times plans beside one other in a worker. One thread; what it is made with outlives it.
class PairTimer {
 public:
  struct Options {
    GuardOptions guard;         ///< inputs, expected outputs, accuracy, threads, seed, stop
    std::int64_t known_ns = 0;  ///< of the plan to compare with
    double seconds = 0.25;      ///< aimed at, for one pair
    std::size_t min_rounds = 5;
  };
  PairTimer(const WorkFolder& folder, WorkerProcess& worker, PlanPacker& packer, Options options)
      : folder_(folder), worker_(worker), packer_(packer), options_(std::move(options)) {}
  PairTimer(const PairTimer&) = delete;
  PairTimer& operator=(const PairTimer&) = delete;
  /// Removes its files.
  ~PairTimer();

  /// The known time of `other` times the paired ratio. Errors worker/died, tune/wrong-numbers with what the plan did,
  /// tune/interrupted, and those of writing a plan.
  [[nodiscard]] Result<Evaluation> time(const RealisedPlan& plan, const RealisedPlan& other);

 private:
  const WorkFolder& folder_;
  WorkerProcess& worker_;
  PlanPacker& packer_;
  Options options_;
  bool has_other_ = false;
};

/// An evaluation from the two lanes of a confirm job, the plan's first. Error tune/plan-failed.
[[nodiscard]] Result<Evaluation> evaluation_of(const std::vector<ConfirmLane>& lanes, std::int64_t known_ns);

}  // namespace collage
