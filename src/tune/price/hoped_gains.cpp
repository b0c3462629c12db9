#include "tune/price/hoped_gains.h"

#include <algorithm>

namespace collage {
namespace {

class Trials {
 public:
  Trials(const CoverRequest& request, std::span<const Hope> hopes, const std::function<bool()>& is_over)
      : request_(request), hopes_(hopes), is_over_(is_over) {
    request_.search.max_states = std::min(request_.search.max_states, kMostTrialStates);
  }

  Result<HopedGains> run() {
    found_.gains.assign(hopes_.size(), 0);
    COLLAGE_TRY(const SearchResult best, best_cover(request_, request_.backends));
    found_.best_ns = best.cover.cost_ns;
    for (std::size_t begin = 0; begin < hopes_.size(); begin += kTogether)
      COLLAGE_TRY_VOID(try_together(begin, std::min(hopes_.size(), begin + kTogether)));
    return std::move(found_);
  }

 private:
  Result<void> try_together(std::size_t begin, std::size_t end) {
    if (begin == end || is_over_()) return {};
    CoverRequest hopeful = request_;
    for (std::size_t h = begin; h < end; ++h)
      for (const std::size_t c : hopes_[h].candidates)
        if (const auto ns = nanoseconds_of(hopeful.costs[c]); ns && *ns > hopes_[h].ns)
          hopeful.costs[c] = Estimated{.ns = hopes_[h].ns};
    COLLAGE_TRY(const SearchResult best, best_cover(hopeful, hopeful.backends));
    const std::int64_t gain = found_.best_ns - best.cover.cost_ns;
    if (static_cast<double>(gain) <= kGain * static_cast<double>(found_.best_ns)) return {};
    if (end - begin == 1) {
      found_.gains[begin] = gain;
      return {};
    }
    const std::size_t middle = begin + (end - begin) / 2;
    COLLAGE_TRY_VOID(try_together(begin, middle));
    return try_together(middle, end);
  }

  CoverRequest request_;
  std::span<const Hope> hopes_;
  const std::function<bool()>& is_over_;
  HopedGains found_;
};

}  // namespace

Result<HopedGains> hoped_gains(const CoverRequest& request, std::span<const Hope> hopes,
                               const std::function<bool()>& is_over) {
  return Trials(request, hopes, is_over).run();
}

}  // namespace collage
