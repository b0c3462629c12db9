#include "tune/confirm/contest.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/format.h>

namespace collage {
namespace {

/// A cover slower than the winner by this factor is beaten.
constexpr double kBeatenShare = 1.2;
/// Of writing a large plan: reading it takes about as long.
constexpr double kWritingAndReading = 2;

bool has_name(const Contest& contest, const std::string& name) {
  for (const auto* list : {&contest.competing, &contest.beaten})
    if (std::ranges::find(*list, name, &Contestant::name) != list->end()) return true;
  return false;
}

/// In their order. Whether there were any.
template <class Is>
bool move_if(std::vector<Contestant>& from, std::vector<Contestant>& to, Is is) {
  const auto moved = std::ranges::stable_partition(from, std::not_fn(is));
  const bool has_any = !moved.empty();
  std::ranges::move(moved, std::back_inserter(to));
  from.erase(moved.begin(), moved.end());
  return has_any;
}

/// The winner stays.
template <class Is>
void retire_if(Contest& contest, Is is) {
  const std::string best = contest.winner().name;
  move_if(contest.competing, contest.beaten, [&](const Contestant& one) { return one.name != best && is(one); });
  const auto winner = std::ranges::find(contest.competing, best, &Contestant::name);
  contest.winner_index = static_cast<std::size_t>(winner - contest.competing.begin());
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
  const std::size_t before = beaten.size();
  retire_if(*this, [&](const Contestant& one) {
    return !one.is_rival && (!one.failure.empty() || static_cast<double>(one.median_ns) > most);
  });
  for (std::size_t b = before; b < beaten.size(); ++b) {
    beaten[b].plan = {};      // its memory is worth more than its past
    beaten[b].ratio.reset();  // of a winner that may be beaten in its turn
  }
}

void Contest::retire_far_behind() {
  if (winner().is_rival) return;
  retire_if(*this, [](const Contestant& one) {
    return one.is_rival && one.failure.empty() && one.ratio && one.ratio->low > kFarBehind;
  });
}

void Contest::scale_retired(const Ratio& faster) {
  for (Contestant& one : beaten)
    if (one.ratio)
      one.ratio = Ratio{.ratio = one.ratio->ratio * faster.ratio,
                        .low = one.ratio->low * faster.low,
                        .high = one.ratio->high * faster.high};
}

bool Contest::recall_engines() { return move_if(beaten, competing, &Contestant::is_rival); }

bool Contest::note_cover(const Graph& graph, Cover cover) {
  cover.cost_ns = 0;  // corrected costs alone make no new plan
  std::string text = to_text(graph, cover);
  if (std::ranges::find(seen_covers, text) != seen_covers.end()) return false;
  seen_covers.push_back(std::move(text));
  return true;
}

double Contest::writing_s(const RealisedPlan& plan) const {
  std::size_t bytes = plan.onnx.size();
  for (const auto& [value, constant] : plan.constants) bytes += constant.data.size();
  for (const auto& [hash, artifact] : plan.artifacts) bytes += artifact.size();
  return write_s_per_byte * static_cast<double>(bytes);
}

double Contest::files_s_with_one_more() const {
  double sum_s = competing.empty() ? 0 : writing_s(competing.back().plan);
  for (const Contestant& one : competing)
    if (one.file.empty()) sum_s += writing_s(one.plan);
  return kWritingAndReading * sum_s;
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
