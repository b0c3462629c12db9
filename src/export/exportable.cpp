#include "export/exportable.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/extensions/export_extension.h"

namespace collage {
namespace {

constexpr std::size_t kMostNamed = 20;

std::string name_of_step(const PlanStep& step, std::size_t index) {
  const std::vector<std::string>& nodes = nodes_of(step).names;
  return fmt::format("step {} {}{}", index, step.backend,
                     nodes.empty() ? std::string() : fmt::format(" ({})", fmt::join(nodes, ", ")));
}

/// Steps that no backend of an exported library runs, those inside bodies included.
void list_refused(const PlanBody& body, const BackendSource& backends, std::vector<std::string>& refused) {
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    const PlanStep& step = body.steps[i];
    for (const PlanBody& inner : bodies_of(step)) list_refused(inner, backends, refused);
    if (!needs_backend(step)) continue;
    if (location_of(step) != kHome || is_transfer(step) || !is_exportable(backends, step.backend))
      refused.push_back(name_of_step(step, i));
  }
}

/// Bodies included.
Result<void> check_shapes(const PlanBody& plan, const std::string& label) {
  const auto kind_of = [&](PlanIndex index) {
    const auto is_in = [&](const std::vector<PlanIndex>& ports) {
      return std::ranges::find(ports, index) != ports.end();
    };
    return is_in(plan.inputs) ? "input" : is_in(plan.outputs) ? "output" : "value";
  };
  for (PlanIndex index = 0; index < plan.values.size(); ++index) {
    const PlanValue& value = plan.values[index];
    if (value.storage != Storage::kDynamic && value.type.is_static()) continue;
    return fail(ExitCode::kUnsupported, "export/shape", fmt::format("{}: {} {}", label, kind_of(index), value.name),
                to_string(value.type), "a fixed shape");
  }
  for (const PlanStep& step : plan.steps)
    for (const PlanBody& body : bodies_of(step)) COLLAGE_TRY_VOID(check_shapes(body, label));
  return {};
}

}  // namespace

bool is_exportable(const BackendSource& backends, const std::string& instance) {
  const Result<Backend*> backend = backends(instance);
  return backend && extension_of<ExportExtension>(**backend) != nullptr;
}

Result<void> check_exportable(const Plan& plan, const BackendSource& backends, const std::string& label) {
  std::vector<std::string> refused;
  list_refused(plan, backends, refused);
  if (!refused.empty()) {
    const std::size_t more = refused.size() - std::min(refused.size(), kMostNamed);
    refused.resize(refused.size() - more);
    return fail(ExitCode::kUnsupported, "export/backend", label,
                fmt::format("{}{}", fmt::join(refused, ", "), more > 0 ? fmt::format(" and {} more", more) : ""),
                "a plan of backends that are part of a library alone: collage tune --deploy library makes one");
  }
  return check_shapes(plan, label);
}

}  // namespace collage
