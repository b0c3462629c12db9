#include "tune/confirm/contest.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"

namespace collage {
namespace {

/// A cover slower than the winner by this factor is beaten.
constexpr double kBeatenShare = 1.2;

/// What a plan's time depends on: its steps and artifacts, not the costs written beside them.
std::string question_of(const Contestant& contestant) {
  std::string text = "|" + contestant.name;
  if (contestant.extra_ns != 0) text += fmt::format("+{}", contestant.extra_ns);
  for (const PlanStep& step : contestant.plan.plan.steps) text += step.backend + step.variant + step.artifact + ";";
  for (const PlanBackend& backend : contestant.plan.plan.backends) text += backend.name + backend.build + ";";
  return text;
}

/// For a user who asked to stop: the fewest rounds that tell which plans give the right numbers and which is best.
GuardOptions hurried(GuardOptions options) {
  options.heat_seconds = options.final_seconds = 0;
  options.heat_rounds = 1;
  options.final_rounds = 3;
  options.stop = {};
  return options;
}

}  // namespace

std::string title_of(const Contestant& contestant) {
  if (!contestant.is_rival) return contestant.name;
  const bool is_simplified = contestant.name.ends_with(kOnSimplified);
  const std::string engine =
      contestant.name.substr(0, contestant.name.size() - (is_simplified ? kOnSimplified.size() : 0));
  return engine + " as a whole" + (is_simplified ? fmt::format(",{}", kOnSimplified) : "");
}

bool Contest::has(const std::string& name) const {
  for (const auto* list : {&competing_, &beaten_})
    if (std::ranges::find(*list, name, &Contestant::name) != list->end()) return true;
  return false;
}

void Contest::add(Contestant contestant) {
  const std::string name = contestant.name;
  for (int number = 2; has(contestant.name); ++number) contestant.name = fmt::format("{} {}", name, number);
  competing_.push_back(std::move(contestant));
}

Result<void> Contest::judge(const ContestOptions& options) {
  COLLAGE_TRY(GuardVerdict judged, verdict(options));
  for (std::size_t c = 0; c < competing_.size(); ++c) {
    competing_[c].median_ns = judged.median_ns[c];
    competing_[c].step_ns = std::move(judged.step_ns[c]);
    competing_[c].failure = std::move(judged.failures[c]);
    competing_[c].verdict = judged.against[c];
    competing_[c].ratio = judged.ratios[c];
  }
  winner_ = judged.winner;
  return {};
}

Result<GuardVerdict> Contest::verdict(const ContestOptions& options) {
  std::string question = options.question;
  for (const Contestant& contestant : competing_) question += question_of(contestant);
  const std::string key = "guard|" + hash_hex(question);
  if (const auto stored = store_.verdict(key))
    if (auto verdict = guard_verdict_from(*stored); verdict && verdict->median_ns.size() == competing_.size())
      return verdict;
  COLLAGE_TRY(const std::vector<GuardEntry> entries, write_entries());
  const std::stop_token& stop = options.guard.stop;
  auto judged = collage::judge(entries, options.guard, worker_);
  if (!judged && stop.stop_requested()) judged = collage::judge(entries, hurried(options.guard), worker_);
  if (!judged) return judged;
  const bool all_ran =
      std::ranges::all_of(judged->failures, [](const std::string& failure) { return failure.empty(); });
  if (all_ran && !stop.stop_requested()) store_.put_verdict(key, to_json(*judged));
  return judged;
}

Result<std::vector<GuardEntry>> Contest::write_entries() {
  std::vector<GuardEntry> entries;
  for (Contestant& contestant : competing_) {
    if (contestant.file.empty()) {
      contestant.file = folder_.file(fmt::format("plan-{}.collage", files_written_++));
      COLLAGE_TRY_VOID(save_plan(packer_.pack(contestant.plan), contestant.file));
    }
    entries.push_back({.name = contestant.name,
                       .plan = contestant.file,
                       .steps = step_count(contestant.plan.plan),
                       .extra_ns = contestant.extra_ns});
  }
  return entries;
}

void Contest::retire_beaten() {
  const double most = kBeatenShare * static_cast<double>(winner().median_ns);
  std::vector<Contestant> kept;
  std::size_t new_winner = 0;
  for (std::size_t c = 0; c < competing_.size(); ++c) {
    Contestant& contestant = competing_[c];
    const bool slow = !contestant.failure.empty() || static_cast<double>(contestant.median_ns) > most;
    if (c == winner_) new_winner = kept.size();
    if (slow && !contestant.is_rival && c != winner_) {
      contestant.plan = {};      // its memory is worth more than its past
      contestant.ratio.reset();  // of a winner that may be beaten in its turn
      beaten_.push_back(std::move(contestant));
    } else {
      kept.push_back(std::move(contestant));
    }
  }
  competing_ = std::move(kept);
  winner_ = new_winner;
}

std::vector<const Contestant*> Contest::losers() const {
  std::vector<const Contestant*> losers;
  for (std::size_t c = 0; c < competing_.size(); ++c)
    if (c != winner_) losers.push_back(&competing_[c]);
  for (const Contestant& contestant : beaten_) losers.push_back(&contestant);
  return losers;
}

std::vector<TimedCover> Contest::timed_covers() const {
  std::vector<TimedCover> timed;
  for (const auto* list : {&competing_, &beaten_})
    for (const Contestant& contestant : *list)
      if (!contestant.is_rival)
        timed.push_back({.cover = &contestant.cover, .step_ns = contestant.step_ns, .applied = contestant.corrections});
  return timed;
}

const SearchResult* Contest::best_search() const {
  const SearchResult* best = nullptr;
  for (const auto* list : {&competing_, &beaten_})
    for (const Contestant& contestant : *list)
      if (contestant.search && contestant.corrections.empty() &&
          (!best || contestant.search->cover.cost_ns < best->cover.cost_ns))
        best = &*contestant.search;
  return best;
}

}  // namespace collage
