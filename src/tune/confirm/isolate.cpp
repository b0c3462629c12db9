#include "tune/confirm/isolate.h"

namespace collage {

Result<IsolatedLanes> confirm_isolating(const ConfirmRequest& request, const ConfirmRun& confirm, bool apart) {
  if (!apart) {
    auto together = confirm(request);
    if (together) return IsolatedLanes{.lanes = *std::move(together)};
    if (together.error().exit == ExitCode::kInterrupted) return std::unexpected(together.error());
  }
  IsolatedLanes isolated{.lanes = {}, .are_paired = false};
  for (const PlanToTime& plan : request.plans) {
    ConfirmRequest alone = request;
    alone.plans = {plan};
    auto lane = confirm(alone);
    if (!lane && lane.error().exit == ExitCode::kInterrupted) return std::unexpected(lane.error());
    if (lane)
      isolated.lanes.push_back(std::move(lane->front()));
    else
      isolated.lanes.push_back({.lane = {.name = plan.name}, .step_ns = {}, .failure = to_string(lane.error())});
  }
  return isolated;
}

}  // namespace collage
