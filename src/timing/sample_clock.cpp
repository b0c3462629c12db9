#include "timing/sample_clock.h"

#include <algorithm>

#include "timing/pinning.h"

namespace collage {

Result<BatchTime> SampleClock::time(const std::function<Result<void>()>& call, std::int64_t calls) const {
  const PinnedThread pinned(options_.threads);
  const bool is_alone = options_.smt == nullptr || options_.smt->wait_until_alone();
  if (options_.noise != nullptr) options_.noise->begin();
  const std::int64_t begin = options_.now_ns();
  for (std::int64_t made = 0; made < calls; ++made) COLLAGE_TRY_VOID(call());
  BatchTime batch{.elapsed_ns = std::max<std::int64_t>(1, options_.now_ns() - begin)};
  batch.disturbed = options_.noise != nullptr && options_.noise->end(batch.elapsed_ns).any();
  if (!is_alone)
    batch.core = CoreUse::kShared;
  else if (options_.smt != nullptr && options_.smt->is_shared())
    batch.core = CoreUse::kChanged;
  return batch;
}

Result<BatchTime> SampleClock::time_elsewhere(const std::function<Result<std::int64_t>(std::int64_t)>& call,
                                              std::int64_t calls) const {
  if (options_.noise != nullptr) options_.noise->begin();
  COLLAGE_TRY(const std::int64_t elapsed_ns, call(calls));
  BatchTime batch{.elapsed_ns = std::max<std::int64_t>(1, elapsed_ns)};
  batch.disturbed = options_.noise != nullptr && options_.noise->end(batch.elapsed_ns).any();
  return batch;
}

void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
  // Fisher and Yates by hand: std::shuffle's use of the generator differs between libraries.
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

}  // namespace collage
