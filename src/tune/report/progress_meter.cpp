#include "tune/report/progress_meter.h"

#include <algorithm>

namespace collage {
namespace {

/// What contests and level 2 may take after everything is priced; less for a tune that is quick anyway.
constexpr double kShareAfterPricing = 0.3;
constexpr double kUsualSecondsAfterPricing = 12;

}  // namespace

ProgressMeter::ProgressMeter(Progress sink, double budget_s, std::function<double()> elapsed_s)
    : sink_(std::move(sink)), budget_s_(budget_s), elapsed_s_(std::move(elapsed_s)) {}

Progress ProgressMeter::sink() {
  return [this](const ProgressEvent& event) {
    if (sink_) pass_on(event);
  };
}

void ProgressMeter::pass_on(ProgressEvent event) {
  const Phase& phase = add_up(event);
  // A part may have seen a better plan than the last contest.
  if (event.best_us > 0 && (best_us_ == 0 || event.best_us < best_us_)) best_us_ = event.best_us;
  event.best_us = best_us_;
  if (rival_us_ > 0 && best_us_ > 0) {
    event.rival = rival_;
    event.speedup = rival_us_ / best_us_;
  }
  event.bound_us = bound_us_;
  event.left_s = left_s(phase);
  sink_(event);
}

const ProgressMeter::Phase& ProgressMeter::add_up(ProgressEvent& event) {
  Phase& phase = phases_[event.phase];
  if (event.total > 0) {
    if (event.total != phase.total || event.done < phase.done) {
      phase.over += phase.done;
      phase.begin_s = elapsed_s_();
      phase.begun = event.done;
    }
    if (event.refused < phase.refused) phase.refused_over += phase.refused;
    phase.done = event.done;
    phase.total = event.total;
    phase.refused = event.refused;
  }
  event.done = phase.over + phase.done;
  event.total = phase.total == 0 ? 0 : phase.over + phase.total;
  event.refused = phase.refused_over + phase.refused;
  return phase;
}

double ProgressMeter::left_s(const Phase& phase) const {
  const double of_budget = std::max(0.0, budget_s_ - elapsed_s_());
  const double in_batch = elapsed_s_() - phase.begin_s;
  if (phase.done <= phase.begun || in_batch <= 0) return of_budget;
  const double each = in_batch / static_cast<double>(phase.done - phase.begun);
  const double of_batch = static_cast<double>(phase.total - phase.done) * each;
  const double after = std::min(kShareAfterPricing * budget_s_, kUsualSecondsAfterPricing);
  return std::min(of_budget, of_batch + after);
}

}  // namespace collage
