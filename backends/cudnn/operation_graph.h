// A Description told to cuDNN, and the execution plans that it offers for it.
// In:  a description, a handle of a GPU. Out: plans as the library's own texts, best first by its heuristics.
// Cost: descriptors take microseconds; a plan may be compiled at run time, which takes seconds.
// Threads: one at a time for a handle. What the library refuses is thrown as std::runtime_error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cudnn/description.h"
#include "backends/cudnn/library.h"

namespace collage::cudnn {

/// Identifies a tensor of the description to the library.
[[nodiscard]] inline std::int64_t id_of(std::size_t tensor) { return static_cast<std::int64_t>(tensor) + 1; }

struct OfferedPlan {
  std::string text;  ///< from which another process makes the same plan
  std::size_t workspace_bytes = 0;
};

/// Of the plans that the heuristics propose the one at this rank, counted among those that round as they are allowed
/// to: without `rounds_inputs` none that multiplies float32 numbers as shorter ones, and none whose sums differ from
/// run to run. Nothing when there are fewer. Plans that the library proposes and does not make are not counted.
/// Without a handle, where there is no GPU, the library takes the graph or throws, and proposes nothing.
[[nodiscard]] std::optional<OfferedPlan> plan_at(const Library& library, Handle handle, const Description& description,
                                                 int rank, bool rounds_inputs, std::size_t workspace_bytes);

}  // namespace collage::cudnn
