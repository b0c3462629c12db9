// The plans that may ship, and the guard over them: whole-model rivals and covers, timed end to end until one has won.
// In: plans as they are made. Out: the winner, everybody's time, what the steps of covers took.
// Not here: making plans (tune), the rounds themselves (guard).
// Cost: that of its rounds.
// Source: ours: never slower than the best plan measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/work_folder.h"
#include "plan/file/plan_file.h"
#include "search/search.h"
#include "store/store.h"
#include "tune/confirm/guard.h"
#include "tune/confirm/plan_packer.h"
#include "tune/price/context.h"

namespace collage {

/// Behind the name of a rival that runs the simplified graph.
inline constexpr std::string_view kOnSimplified = " on the simplified graph";

struct Contestant {
  std::string name;
  RealisedPlan plan;
  bool is_rival = false;      ///< a whole-model engine: never retired
  std::int64_t extra_ns = 0;  ///< what its memory costs beside its time
  std::int64_t memory_bytes = 0;
  Cover cover;
  std::optional<SearchResult> search = std::nullopt;  ///< nothing for rivals
  Corrections corrections = {};                       ///< applied to the costs of the cover's steps
  std::string file = {};                              ///< written when there is something to time
  std::int64_t median_ns = 0;                         ///< of its last guard; 0 = did not run
  std::vector<std::int64_t> step_ns = {};             ///< likewise
  std::string failure = {};                           ///< likewise
  Verdict verdict = Verdict::kUnsure;                 ///< likewise: the winner against it
  std::optional<Ratio> ratio = std::nullopt;          ///< likewise: how many times faster the winner is
};

/// For people: engines are "ENGINE as a whole", perhaps ", on the simplified graph".
[[nodiscard]] std::string title_of(const Contestant& contestant);

struct ContestOptions {
  std::string question;  ///< what a verdict depends on besides the plans: machine, model, shapes, threads
  GuardOptions guard;
};

/// One thread. What it is made with outlives it.
class Contest {
 public:
  Contest(WorkFolder& folder, Store& store, WorkerProcess& worker, PlanPacker& packer)
      : folder_(folder), store_(store), worker_(worker), packer_(packer) {}

  /// A name that is taken gets a number behind it.
  void add(Contestant contestant);
  [[nodiscard]] std::size_t competing() const { return competing_.size(); }

  /// Times all that compete, or recalls the verdict of the same question. A stop cuts the rounds short, not the checks
  /// of numbers. Error tune/nothing-runs, or of writing the plans.
  [[nodiscard]] Result<void> judge(const ContestOptions& options);

  /// Covers that failed or are clearly slower than the winner are not timed again.
  void retire_beaten();

  /// Of the last judge().
  [[nodiscard]] Contestant& winner() { return competing_[winner_]; }
  /// All but the winner, those that compete still first.
  [[nodiscard]] std::vector<const Contestant*> losers() const;
  [[nodiscard]] std::vector<TimedCover> timed_covers() const;
  /// Of the cheapest cover under costs measured alone; null without covers.
  [[nodiscard]] const SearchResult* best_search() const;

 private:
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] Result<GuardVerdict> verdict(const ContestOptions& options);
  [[nodiscard]] Result<std::vector<GuardEntry>> write_entries();

  WorkFolder& folder_;
  Store& store_;
  WorkerProcess& worker_;
  PlanPacker& packer_;
  std::vector<Contestant> competing_;
  std::vector<Contestant> beaten_;
  std::size_t winner_ = 0;
  std::size_t files_written_ = 0;
};

}  // namespace collage
