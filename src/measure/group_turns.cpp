#include "measure/group_turns.h"

#include <algorithm>
#include <thread>

namespace collage {
namespace {

/// Between two looks at what other tuners measure: the second doubles the first until the longest.
constexpr std::chrono::milliseconds kFirstPause(1);
constexpr std::chrono::milliseconds kLongestPause(50);

bool is_too_late(const MeasureLimits& limits, std::size_t nodes) {
  return Clock::now() > (nodes > 1 ? limits.deadline : limits.latest);
}

}  // namespace

Result<void> GroupTurns::run(std::map<std::string, PriceGroup>& groups, const MeasureLimits& limits, Answers& answers) {
  std::size_t total = 0;
  for (const auto& [name, group] : groups) total += group.pending.size();
  std::size_t done = 0;
  if (!limits.stop.stop_requested()) runner_.work_ahead(groups, limits.deadline, limits.stop, &answers);
  std::size_t left = 0;
  for (const auto& [name, group] : groups) left += group.pending.size();
  if (left < total) report(done = total - left, total);
  std::vector<PriceGroup> theirs;
  for (auto& [name, group] : groups) {
    if (group.pending.empty() || limits.stop.stop_requested() || is_too_late(limits, group.nodes.size())) continue;
    const std::size_t size = group.pending.size();
    theirs.push_back(take_leases(group, answers));
    COLLAGE_TRY_VOID(run_leased(std::move(group), limits.stop, answers));
    done += size - theirs.back().pending.size();
    report(done, total);
  }
  return await_others(std::move(theirs), limits, answers);
}

PriceGroup GroupTurns::take_leases(PriceGroup& group, Answers& answers) {
  std::vector<std::string> keys;
  for (const PendingCandidate& pending : group.pending) keys.push_back(pending.key);
  const std::vector<Lease> leases = store_.take_leases(keys, runner_.allowance()(std::nullopt));
  PriceGroup theirs = group;
  theirs.pending.clear();
  std::vector<PendingCandidate> ours;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    PendingCandidate& pending = group.pending[i];
    if (leases[i] == Lease::kTheirs)
      theirs.pending.push_back(std::move(pending));
    else if (leases[i] == Lease::kOurs || !book_.reuse(pending.key, group.effort, answers))
      ours.push_back(std::move(pending));
  }
  group.pending = std::move(ours);
  return theirs;
}

Result<void> GroupTurns::await_others(std::vector<PriceGroup> theirs, const MeasureLimits& limits, Answers& answers) {
  auto pause = kFirstPause;
  for (;;) {
    std::erase_if(theirs, [&](const PriceGroup& group) {
      return group.pending.empty() || is_too_late(limits, group.nodes.size());
    });
    if (theirs.empty() || limits.stop.stop_requested()) return {};
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
    for (PriceGroup& group : theirs) {
      const std::size_t size = group.pending.size();
      PriceGroup rest = take_leases(group, answers);
      if (rest.pending.size() < size) pause = kFirstPause;
      COLLAGE_TRY_VOID(run_leased(std::move(group), limits.stop, answers));
      group = std::move(rest);
    }
  }
}

Result<void> GroupTurns::run_leased(PriceGroup group, const std::stop_token& stop, Answers& answers) {
  auto outcome = runner_.run(std::move(group), stop, answers);
  // What has no cost after all, because of a stop or an error, is for others to measure.
  store_.release_leases();
  return outcome;
}

void GroupTurns::report(std::size_t done, std::size_t total) const {
  if (progress_)
    progress_(
        {.phase = "price", .done = done, .total = total, .refused = book_.counts().refused, .best_us = 0, .note = {}});
}

}  // namespace collage
