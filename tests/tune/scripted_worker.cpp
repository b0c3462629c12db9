// A worker that answers confirm jobs from a script instead of running plans: the "file" of a plan is JSON that says
// what happens to it.
//   {"heat": 900, "final": [1000, 1010]}   nanoseconds of all samples, or samples in turn; no "final": as in the heat
//   {"fails": "why"}                       its outputs are wrong
//   {"heat": "dies"}, {"final": "hangs"}   the worker does, when this plan is in the job
//   {"company": "dies"}                    the same, unless it is alone
// Argument: the socket.
#include <unistd.h>

#include <cstdlib>

#include "region/value_json.h"
#include "tune/confirm/confirm.h"
#include "worker/worker.h"

namespace collage {
namespace {

constexpr std::size_t kRoundsOfAFinal = 15;

void act(const Json& what) {
  if (what == "dies") std::abort();
  if (what == "hangs")
    for (;;) ::sleep(1);
}

ConfirmLane lane_of(const PlanToTime& plan, bool is_final, bool is_alone) {
  const Json script = Json::parse(plan.file);
  if (!is_alone && script.contains("company")) act(script["company"]);
  ConfirmLane lane{.lane = {.name = plan.name, .samples_ns = {}}, .step_ns = {}, .failure = {}};
  if (script.contains("fails")) {
    lane.failure = script["fails"];
    return lane;
  }
  const Json& times = is_final && script.contains("final") ? script["final"] : script["heat"];
  act(times);
  for (std::size_t i = 0; i < kRoundsOfAFinal; ++i)
    lane.lane.samples_ns.push_back(times.is_array() ? times[i % times.size()].get<std::int64_t>()
                                                    : times.get<std::int64_t>());
  lane.step_ns = {lane.lane.samples_ns.front()};
  return lane;
}

Result<Json> confirm(const Json& job, JobContext&) {
  COLLAGE_TRY(const ConfirmRequest request, confirm_request_from(job));
  std::vector<ConfirmLane> lanes;
  for (const PlanToTime& plan : request.plans)
    lanes.push_back(lane_of(plan, request.min_rounds >= kRoundsOfAFinal, request.plans.size() == 1));
  return to_json(lanes);
}

}  // namespace
}  // namespace collage

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  collage::Registry registry({});
  const std::vector<collage::Handler> handlers = {{.type = "confirm", .run = collage::confirm}};
  return collage::worker_main(std::atoi(argv[1]), registry, handlers);
}
