// Times plans in one worker. If that worker dies, each plan is timed in a worker of its own, so that a plan that
// crashes or hangs does not affect the others.
// In:  a confirm request. Out: a lane for each plan, with a failure where it could not be timed.
// Not here: the rounds (confirm.h), decisions (guard.h).
#pragma once

#include <functional>
#include <vector>

#include "tune/confirm/confirm.h"

namespace collage {

/// Times the plans of a request; the error of a worker that died with them, or of a stop.
using ConfirmRun = std::function<Result<std::vector<ConfirmLane>>(const ConfirmRequest& request)>;

struct IsolatedLanes {
  std::vector<ConfirmLane> lanes;  ///< by plan
  bool are_paired = true;          ///< false: timed one after the other, so that their rounds do not belong together
};

/// `apart`: the plans cannot share a process in any case. An error only of a stop.
[[nodiscard]] Result<IsolatedLanes> confirm_isolating(const ConfirmRequest& request, const ConfirmRun& confirm,
                                                      bool apart);

}  // namespace collage
