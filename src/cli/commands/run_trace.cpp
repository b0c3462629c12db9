#include "cli/commands/run_trace.h"

#include <chrono>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/clock.h"
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

}  // namespace

Result<std::string> traced(Session& session, int runs) {
  const Plan& plan = session.plan();
  ordered_json events = {named("process_name", plan.model_path), named("thread_name", "steps")};
  std::vector<std::int64_t> times(plan.steps.size());
  const auto start = std::chrono::steady_clock::now();
  for (int run = 0; run < runs; ++run) {
    const std::int64_t begin_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    COLLAGE_TRY_VOID(session.run_profiled(times));
    std::int64_t at_ns = begin_ns;
    const std::size_t whole = events.size();
    events.push_back(nullptr);
    for (std::size_t s = 0; s < times.size(); ++s) {
      if (!is_view(plan.steps[s])) events.push_back(step_slice(plan, s, at_ns, times[s]));
      at_ns += times[s];
    }
    events[whole] = slice("run " + std::to_string(run), "run", begin_ns, at_ns - begin_ns);
  }
  const ordered_json trace = {{"traceEvents", events}, {"displayTimeUnit", "ns"}};
  return trace.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace collage::cli
