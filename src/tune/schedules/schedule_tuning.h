// Divides measuring time among kernels whose settings can be tuned.
// In:  kernels, a function that measures, the gain of the cover from each kernel. Out: faster variants, reported as
//       they are found.
// How: the next batch of settings is tried on the kernel with the highest product of possible gain and success rate so
//       far (estimated by the rule of succession). A kernel with many failures in a row, or without settings left, is
//       finished. A kernel's possible gain is computed again when it became faster. The same costs and seed give the
//       same batches.
// Example: kernel a may gain 30 us and 1 of 8 batches succeeded: 30 x (1 + 1) / (8 + 2) = 6. Kernel b may gain 10 us
// and 3 of 4 batches succeeded: 10 x (3 + 1) / (4 + 2) = 6.7. The next batch is tried on b.
// Cost: what is measured.
// Not here: which settings to try (search/settings_search.h), gains (tune/price/hoped_gains.h).
// Source: the task scheduler of Ansor (Zheng et al., OSDI 2020), with the gain of the cover as objective.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "region/cost.h"
#include "search/settings_search.h"

namespace collage {

/// One way to compute one region, wherever in the graph it is.
struct TunableKernel {
  TuningSpace space;
  std::int64_t ns = 0;       ///< of the fastest known settings
  std::int64_t gain_ns = 0;  ///< of the best cover, if the kernel were as fast as one may hope
  std::string fastest = {};  ///< the variant's name
  std::vector<std::pair<Settings, std::optional<std::int64_t>>> known = {};  ///< times, or nothing where it failed
  std::size_t tried = 0;                                                     ///< counted here
  std::size_t refused = 0;                                                   ///< of these
};

/// Who does the work; called from the thread of tune_kernels with indices of kernels.
struct KernelTuning {
  /// One cost for each variant, unknown after a stop.
  std::function<Result<std::vector<Cost>>(std::size_t kernel, const std::vector<std::string>& variants)> measure;
  /// The kernel got faster: what the best cover may gain from it from now on.
  std::function<Result<std::int64_t>(std::size_t kernel)> improved;
  /// The settings to try first: the best ones of similar shapes. Called once for each kernel.
  std::function<std::vector<Settings>(std::size_t kernel)> near;
  std::function<bool()> is_over;
  std::uint64_t seed = 1;
};

/// True when no promising settings are left. Errors of measuring.
[[nodiscard]] Result<bool> tune_kernels(std::vector<TunableKernel>& kernels, const KernelTuning& tuning);

}  // namespace collage
