// Rivals of a tune: every engine on the user's file and on the simplified graph, each as a plan of one step.
// In: the engines that take part. Out: contestants.
// Cost: one compilation for each, in the worker, unless the store has its artifact.
#pragma once

#include <string>
#include <vector>

#include "tune/confirm/contestant_maker.h"

namespace collage {

/// Who does not take the model is told in `notes`. When time runs out one rival does: it is a plan that can ship.
[[nodiscard]] Result<void> add_rivals(const Scene& scene, ContestantMaker& maker, Contest& contest,
                                      std::vector<std::string>& notes);

}  // namespace collage
