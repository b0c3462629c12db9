#include "measure/price_run.h"

#include <fmt/format.h>

#include <cstdlib>

namespace collage {
namespace {

/// Every candidate to come would fail in this process. A worker that dies is a fault of the candidate it is at: that
/// one is refused, the others are asked for again.
[[noreturn]] void end_worker(const std::string& why) {
  fmt::print(stderr, "the device is lost: {}\n", why);
  std::_Exit(EXIT_FAILURE);
}

std::unexpected<Error> threw(std::string what) {
  return fail(ExitCode::kUnsupported, "measure/threw", "run", "threw " + std::move(what));
}

}  // namespace

void PriceRun::begin(const std::string& stage, const JobCandidate& candidate, std::int64_t expected_ns) {
  context.begin(stage, candidate.index, expected_ns);
}

void PriceRun::refuse(JobCandidate& candidate, Refusal refusal) {
  candidate.trial.reset();
  candidate.answer = {.cost = Infeasible{std::move(refusal)}, .artifact = {}, .stage = context.stage()};
}

void PriceRun::refuse(JobCandidate& candidate, RefusalReason reason, std::string detail) {
  refuse(candidate, Refusal{.reason = reason, .detail = std::move(detail)});
}

void PriceRun::accept(JobCandidate& candidate, std::optional<TrialFailure> failed) {
  if (!failed) return;
  if (failed->device_lost) end_worker(failed->refusal.detail);
  harmed |= failed->harmful;
  refuse(candidate, std::move(failed->refusal));
}

void PriceRun::settle(JobCandidate& candidate) {
  const std::string changed = watch.settle();
  if (changed.empty()) return;
  harmed = true;
  if (!candidate.is_refused()) refuse(candidate, RefusalReason::kWrongResult, "changed the process: " + changed);
}

// A try block costs nothing while nothing is thrown.
template <class Work>
auto PriceRun::guarded(Work&& work) -> decltype(work()) {
  try {
    auto done = work();
    if (!done && done.error().code == kDeviceLost) end_worker(done.error().saw);
    return done;
  } catch (const std::exception& exception) {
    harmed = true;
    return threw(exception.what());
  } catch (...) {
    harmed = true;
    return threw("an exception of unknown type");
  }
}

Result<void> PriceRun::run_guarded(JobCandidate& candidate) {
  return guarded([&] { return candidate.trial->run(); });
}

Result<std::int64_t> PriceRun::time_guarded(JobCandidate& candidate, std::int64_t runs) {
  return guarded([&] { return candidate.trial->time_queued(runs); });
}

}  // namespace collage
