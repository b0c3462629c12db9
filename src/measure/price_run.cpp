#include "measure/price_run.h"

namespace collage {
namespace {

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
    harmed |= !done && done.error().code == kDeviceLost;
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
