// The contest: plans that may ship, timed end to end until one has won. Its entrants are whole-model rivals and plans
// made from covers.
// In:  plans as they are made. Out: a Contest: the winner, the times of all, the times of the covers' steps.
// Not here: making plans (make_contestant.h, rivals.h, enter_covers.h), timing them (hold_contest.h, guard.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/file/plan_file.h"
#include "search/search.h"
#include "tune/confirm/bound_share.h"
#include "tune/confirm/contest_time.h"
#include "tune/confirm/guard.h"
#include "tune/measure_env.h"
#include "tune/price/context.h"
#include "tune/report/report.h"
#include "tune/tune_task.h"

namespace collage {

/// Behind the name of a rival that runs the simplified graph.
inline constexpr std::string_view kOnSimplified = " on the simplified graph";

struct Contestant {
  std::string name;
  RealisedPlan plan;
  bool is_rival = false;      ///< a whole-model engine
  bool may_ship = true;       ///< else only timed
  std::int64_t extra_ns = 0;  ///< what its memory costs beside its time
  std::int64_t memory_bytes = 0;
  Cover cover;
  std::optional<SearchResult> search = std::nullopt;  ///< nothing for rivals
  Corrections corrections = {};                       ///< applied to the costs of the cover's steps
  std::string file = {};                              ///< written when there is something to time
  std::int64_t median_ns = 0;                         ///< of its last guard; 0 = did not run
  std::vector<std::int64_t> step_ns = {};             ///< likewise
  std::string failure = {};                           ///< likewise
  BoundShare share = {};                              ///< of the bound on outputs, where steps are narrow
  Verdict verdict = Verdict::kUnsure;                 ///< likewise: the winner against it
  std::optional<Ratio> ratio = std::nullopt;          ///< likewise: how many times faster the winner is
};

/// For people: engines are "ENGINE as a whole", perhaps ", on the simplified graph".
[[nodiscard]] std::string title_of(const Contestant& contestant);
/// Of a plan that is right where it was tried, but too near to the bound on outputs; "" for others.
[[nodiscard]] std::string why_it_may_not_ship(const Contestant& contestant);

struct Contest {
  std::vector<Contestant> competing;
  std::vector<Contestant> beaten;  ///< not timed any more; plans of covers are dropped
  std::size_t winner_index = 0;    ///< of `competing`, by the last judge()
  ContestTime last = {};           ///< of the last judge(); no plans before the first
  bool is_cut = false;             ///< the clock left out a contest, or a cover of one
  std::size_t files_written = 0;
  std::string saved;                     ///< whose plan lies at the output; empty: none of this tune
  double write_s_per_byte = 0;           ///< of the plan files written so far
  bool is_over = false;                  ///< the budget leaves time to write the winner and for nothing else
  std::vector<std::string> seen_covers;  ///< texts of covers that were made plans, or could not be
  std::optional<std::int64_t> least_over_cap = std::nullopt;   ///< bytes of the most frugal plan over the cap lately
  std::vector<std::string> notes;                              ///< who takes no part, and why
  std::vector<BestSoFar> curve;                                ///< a point for each judge()
  std::optional<ExplainedPrecision> precision = std::nullopt;  ///< of a winner with steps in 16 bits

  /// A name that is taken gets a number behind it.
  void add(Contestant contestant);
  /// Covers that failed or are clearly slower than the winner are not timed again.
  void retire_beaten();
  /// Nor are engines that are far behind a cover, and surely so: rounds with them take long and tell nothing new.
  void retire_far_behind();
  /// The winner is so many times faster than the one before, which the engines that are not timed any more were
  /// compared with: multiplies their ratios.
  void scale_retired(const Ratio& faster);
  /// Engines that were retired compete again. False where there are none.
  bool recall_engines();
  /// False when a cover with these steps was there before.
  [[nodiscard]] bool note_cover(const Graph& graph, Cover cover);

  /// What writing a plan as a whole takes, as far as the files of this contest tell.
  [[nodiscard]] double writing_s(const RealisedPlan& plan) const;
  /// What the files of the next contest take that are not written yet, and that of one plan more, as large as the last
  /// one: writing them, and reading them.
  [[nodiscard]] double files_s_with_one_more() const;
  /// Whether one of those that compete may ship.
  [[nodiscard]] bool has_plan() const;
  [[nodiscard]] Contestant& winner() { return competing[winner_index]; }
  [[nodiscard]] const Contestant& winner() const { return competing[winner_index]; }
  /// All but the winner, those that compete still first.
  [[nodiscard]] std::vector<const Contestant*> losers() const;
  [[nodiscard]] std::vector<TimedCover> timed_covers() const;
  /// Of the cheapest cover under costs measured alone; null without covers.
  [[nodiscard]] const SearchResult* best_search() const;
};

/// A line for each plan: what it took, how it compares, its name.
[[nodiscard]] std::string to_text(const Contest& contest);

}  // namespace collage
