#include "tune/price/making_order.h"

#include <algorithm>

namespace collage {
namespace {

/// Computations asked for at once, at most; between them the deadline is looked at.
constexpr std::size_t kChunk = 16;
/// Of the time for samples, where it is too short for the first cover: for kernels that are made at once.
constexpr double kQuickShare = 0.4;
/// There, a kernel that is made slowly is made for a saving of at least this part of the best cover's time.
constexpr double kWorthMaking = 0.003;

}  // namespace

void MakingOrder::begin_first_cover() {
  sampling_s_ = measuring_.sampling_left_s();
  first_cover_ = FirstCover::kInTime;
}

std::size_t MakingOrder::slow_among(std::span<const std::size_t> candidates) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      candidates, [this](std::size_t c) { return costs_.is_unseen(c) && measuring_.is_made_slowly(c); }));
}

bool MakingOrder::matters(std::span<const std::size_t> candidates) const {
  return slow_among(candidates) > std::min(kChunk, pace_.chunk_in(measuring_.sampling_left_s()));
}

Wanted MakingOrder::in_order(const std::vector<std::size_t>& candidates, const Cover& quick,
                             const std::vector<NamedCover>& hoped, std::int64_t best_ns) const {
  auto shares = costs_.by_share(candidates, quick, hoped);
  const auto is_slow = [this](const auto& share) { return measuring_.is_made_slowly(share.second); };
  const auto slow_end = std::ranges::stable_partition(shares, is_slow).begin();
  const double least_ns = kWorthMaking * static_cast<double>(best_ns);
  const auto is_worth_making = [&](const auto& share) { return share.first >= least_ns; };
  Wanted wanted;
  wanted.worth_making = static_cast<std::size_t>(std::count_if(shares.begin(), slow_end, is_worth_making));
  for (const auto& [share_ns, candidate] : shares) wanted.candidates.push_back(candidate);
  return wanted;
}

/// Whether making the slow ones of these takes longer than there is time for samples.
bool MakingOrder::is_too_much(std::span<const std::size_t> rest) const {
  return first_cover_ == FirstCover::kInTime && slow_among(rest) > pace_.count_in(measuring_.sampling_left_s());
}

/// So many of these that making the slow ones among them takes no longer.
std::span<const std::size_t> MakingOrder::made_in(double seconds, std::span<const std::size_t> next) const {
  return slow_among(next) == 0 ? next : next.first(std::min(next.size(), pace_.chunk_in(seconds)));
}

std::span<const std::size_t> MakingOrder::next_chunk(std::span<const std::size_t> rest, std::size_t worth_making) {
  const auto next = rest.first(std::min(rest.size(), kChunk));
  const double left_s = measuring_.sampling_left_s();
  if (!is_too_much(rest)) return made_in(left_s, next);
  const double for_slow_s = left_s - kQuickShare * sampling_s_;
  if (worth_making > 0 && pace_.count_in(for_slow_s) > 0)
    return made_in(for_slow_s, next.first(std::min(next.size(), worth_making)));
  first_cover_ = FirstCover::kLate;
  return {};
}

}  // namespace collage
