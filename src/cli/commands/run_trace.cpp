#include "cli/commands/run_trace.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "backend/cancel.h"
#include "base/clock.h"
#include "base/json_numbers.h"
#include "plan/plan.h"

namespace collage::cli {
namespace {

using nlohmann::ordered_json;

/// One process with one thread: the caller's.
constexpr int kProcess = 1;
constexpr int kThread = 1;

ordered_json named(const char* what, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", kThread}, {"args", {{"name", name}}}};
}

ordered_json slice(const std::string& name, const std::string& category, std::int64_t begin_ns, std::int64_t ns) {
  return {{"name", name},     {"cat", category}, {"ph", "X"},      {"ts", to_us(begin_ns)},
          {"dur", to_us(ns)}, {"pid", kProcess}, {"tid", kThread}, {"args", ordered_json::object()}};
}

std::string title(const PlanStep& step) {
  const std::vector<std::string>& nodes = nodes_of(step).names;
  if (nodes.empty()) return std::string(kind_name(step));
  return nodes.size() == 1 ? nodes[0] : nodes[0] + " and " + std::to_string(nodes.size() - 1) + " more";
}

std::vector<std::string> values_of(const Plan& plan, const std::vector<PlanIndex>& ids) {
  std::vector<std::string> values;
  for (const PlanIndex id : ids) {
    const PlanValue& value = plan.values[id];
    values.push_back(value.name + ": " + to_string(value.type) + ", " + value.place.format.name);
  }
  return values;
}

ordered_json step_slice(const Plan& plan, std::size_t s, std::int64_t begin_ns, std::int64_t ns) {
  const PlanStep& step = plan.steps[s];
  ordered_json made = slice(title(step), step.backend, begin_ns, ns);
  made["args"] = {{"step", s},
                  {"kind", kind_name(step)},
                  {"variant", step.variant},
                  {"nodes", nodes_of(step).names},
                  {"reads", values_of(plan, step.inputs)},
                  {"writes", values_of(plan, step.outputs)},
                  {"alone_us", to_us(step.cost_ns)}};
  return made;
}

/// What was counted in each step of one run.
class StepCounts {
 public:
  StepCounts(const Counters& counters, std::size_t steps)
      : counters_(counters), last_(counters.names().size()), now_(last_), own_(last_), of_steps_(steps, last_) {
    std::ranges::fill(own_, std::numeric_limits<std::uint64_t>::max());
    constexpr int kTries = 32;
    for (int i = 0; i < kTries; ++i) {
      counters_.read(last_);
      counters_.read(now_);
      for (std::size_t c = 0; c < own_.size(); ++c) own_[c] = std::min(own_[c], now_[c] - last_[c]);
    }
  }

  void begin_run() { counters_.read(last_); }

  void end_step(std::size_t step) {
    counters_.read(now_);
    for (std::size_t i = 0; i < now_.size(); ++i)
      of_steps_[step][i] = now_[i] - last_[i] - std::min(own_[i], now_[i] - last_[i]);
    counters_.read(last_);
  }

  [[nodiscard]] ordered_json json(std::size_t step) const {
    ordered_json counts = ordered_json::object();
    for (std::size_t i = 0; i < now_.size(); ++i) counts[counters_.names()[i]] = of_steps_[step][i];
    return counts;
  }

 private:
  const Counters& counters_;
  std::vector<std::uint64_t> last_;
  std::vector<std::uint64_t> now_;
  std::vector<std::uint64_t> own_;                    ///< what reading the counters adds to them
  std::vector<std::vector<std::uint64_t>> of_steps_;  ///< by step, then by counter
};

/// Adds the counts to a step's slice, and the time in which its threads did not run. Returns how many ran on average.
double add_counts(ordered_json& slice, ordered_json counts, std::int64_t ns, int threads) {
  double at_work = 0;
  if (counts.contains("cpu_ns") && ns > 0) {
    const double cpu_ns = counts["cpu_ns"];
    slice["args"]["waiting_us"] = std::max(0.0, static_cast<double>(ns) * threads - cpu_ns) / 1000;
    at_work = std::min<double>(threads, cpu_ns / static_cast<double>(ns));
  }
  slice["args"]["counters"] = std::move(counts);
  return at_work;
}

ordered_json threads_at_work(double threads, std::int64_t at_ns) {
  return {{"name", "threads at work"},
          {"ph", "C"},
          {"ts", to_us(at_ns)},
          {"pid", kProcess},
          {"args", {{"threads", threads}}}};
}

}  // namespace

Result<std::string> traced(Session& session, int runs, const Counters& counters, const std::stop_token& cancel) {
  const Plan& plan = session.plan();
  ordered_json events = {named("process_name", plan.model_path), named("thread_name", "steps")};
  std::vector<std::int64_t> times(plan.steps.size());
  StepCounts counts(counters, plan.steps.size());
  const auto start = std::chrono::steady_clock::now();
  for (int run = 0; run < runs; ++run) {
    if (cancel.stop_requested()) return run_cancelled();
    const std::int64_t begin_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    counts.begin_run();
    COLLAGE_TRY_VOID(session.run_profiled(times, [&counts](std::size_t step) { counts.end_step(step); }));
    std::int64_t at_ns = begin_ns;
    const std::size_t whole = events.size();
    events.push_back(nullptr);
    for (std::size_t s = 0; s < times.size(); ++s) {
      if (is_view(plan.steps[s])) continue;
      ordered_json slice = step_slice(plan, s, at_ns, times[s]);
      const double threads = add_counts(slice, counts.json(s), times[s], plan.threads);
      events.push_back(std::move(slice));
      events.push_back(threads_at_work(threads, at_ns));
      at_ns += times[s];
    }
    events[whole] = slice("run " + std::to_string(run), "run", begin_ns, at_ns - begin_ns);
  }
  const ordered_json trace = {{"traceEvents", events},
                              {"displayTimeUnit", "ns"},
                              {"otherData", {{"threads", plan.threads}, {"not_counted", counters.refused()}}}};
  return trace.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace collage::cli
