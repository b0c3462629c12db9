#include "tune/confirm/contest.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/format.h>

namespace collage {
namespace {

/// A cover slower than the winner by this factor is beaten.
constexpr double kBeatenShare = 1.2;

bool has_name(const Contest& contest, const std::string& name) {
  for (const auto* list : {&contest.competing, &contest.beaten})
    if (std::ranges::find(*list, name, &Contestant::name) != list->end()) return true;
  return false;
}

}  // namespace

std::string title_of(const Contestant& contestant) {
  if (!contestant.is_rival) return contestant.name;
  const bool is_simplified = contestant.name.ends_with(kOnSimplified);
  const std::string engine =
      contestant.name.substr(0, contestant.name.size() - (is_simplified ? kOnSimplified.size() : 0));
  return engine + " as a whole" + (is_simplified ? fmt::format(",{}", kOnSimplified) : "");
}

std::string why_it_may_not_ship(const Contestant& contestant) {
  const BoundShare& share = contestant.share;
  if (contestant.may_ship || !contestant.failure.empty() || share.has_reserve()) return "";
  return fmt::format(
      "{} does not ship: its outputs err up to {:.2f} of what is allowed on {} sets of inputs, so that "
      "they may leave the bound on others",
      title_of(contestant), share.largest, share.sets);
}

void Contest::add(Contestant contestant) {
  const std::string name = contestant.name;
  for (int number = 2; has_name(*this, contestant.name); ++number) contestant.name = fmt::format("{} {}", name, number);
  competing.push_back(std::move(contestant));
}

void Contest::retire_beaten() {
  const double most = kBeatenShare * static_cast<double>(winner().median_ns);
  std::vector<Contestant> kept;
  std::size_t new_winner = 0;
  for (std::size_t c = 0; c < competing.size(); ++c) {
    Contestant& contestant = competing[c];
    const bool slow = !contestant.failure.empty() || static_cast<double>(contestant.median_ns) > most;
    if (c == winner_index) new_winner = kept.size();
    if (slow && !contestant.is_rival && c != winner_index) {
      contestant.plan = {};      // its memory is worth more than its past
      contestant.ratio.reset();  // of a winner that may be beaten in its turn
      beaten.push_back(std::move(contestant));
    } else {
      kept.push_back(std::move(contestant));
    }
  }
  competing = std::move(kept);
  winner_index = new_winner;
}

void Contest::retire_far_behind() {
  if (winner().is_rival) return;
  const std::string best = winner().name;
  const auto is_far_behind = [](const Contestant& one) {
    return one.is_rival && one.failure.empty() && one.ratio && one.ratio->low > kFarBehind;
  };
  const auto [begin, end] = std::ranges::stable_partition(competing, std::not_fn(is_far_behind));
  std::move(begin, end, std::back_inserter(beaten));
  competing.erase(begin, end);
  winner_index = static_cast<std::size_t>(std::ranges::find(competing, best, &Contestant::name) - competing.begin());
}

void Contest::scale_retired(const Ratio& faster) {
  for (Contestant& one : beaten)
    if (one.ratio)
      one.ratio = Ratio{.ratio = one.ratio->ratio * faster.ratio,
                        .low = one.ratio->low * faster.low,
                        .high = one.ratio->high * faster.high};
}

bool Contest::recall_engines() {
  const auto [begin, end] = std::ranges::stable_partition(beaten, std::not_fn(&Contestant::is_rival));
  const bool has_any = begin != end;
  std::move(begin, end, std::back_inserter(competing));
  beaten.erase(begin, end);
  return has_any;
}

bool Contest::note_cover(const Graph& graph, Cover cover) {
  cover.cost_ns = 0;  // corrected costs alone make no new plan
  std::string text = to_text(graph, cover);
  if (std::ranges::find(seen_covers, text) != seen_covers.end()) return false;
  seen_covers.push_back(std::move(text));
  return true;
}

bool Contest::has_plan() const { return std::ranges::any_of(competing, &Contestant::may_ship); }

std::vector<const Contestant*> Contest::losers() const {
  std::vector<const Contestant*> losers;
  for (std::size_t c = 0; c < competing.size(); ++c)
    if (c != winner_index) losers.push_back(&competing[c]);
  for (const Contestant& contestant : beaten) losers.push_back(&contestant);
  return losers;
}

std::vector<TimedCover> Contest::timed_covers() const {
  std::vector<TimedCover> timed;
  for (const auto* list : {&competing, &beaten})
    for (const Contestant& contestant : *list)
      if (!contestant.is_rival)
        timed.push_back({.cover = &contestant.cover, .step_ns = contestant.step_ns, .applied = contestant.corrections});
  return timed;
}

const SearchResult* Contest::best_search() const {
  const SearchResult* best = nullptr;
  for (const auto* list : {&competing, &beaten})
    for (const Contestant& contestant : *list)
      if (contestant.search && contestant.corrections.empty() &&
          (!best || contestant.search->cover.cost_ns < best->cover.cost_ns))
        best = &*contestant.search;
  return best;
}

std::string to_text(const Contest& contest) {
  std::string text;
  for (const auto* list : {&contest.competing, &contest.beaten})
    for (const Contestant& one : *list) {
      const bool is_winner = &one == &contest.winner();
      const std::string told = is_winner             ? "winner"
                               : one.failure.empty() ? std::string(name_of(one.verdict))
                                                     : one.failure;
      text += fmt::format("{:>12.1f} us  {:<12} {}\n", static_cast<double>(one.median_ns) / 1000, told, title_of(one));
    }
  return text;
}

}  // namespace collage
