#include "plan/plan.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/hash.h"
#include "plan/memory.h"

namespace collage {
namespace {

std::unexpected<Error> damaged(std::string where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "plan/damaged", std::move(where), std::move(saw), std::move(allowed));
}

std::string label(const Plan& plan, PlanIndex index) {
  return fmt::format("value {} ({})", index, plan.values[index].name);
}

/// Bytes a value needs where that is known here: static tensors in the two common formats.
std::size_t least_bytes(const PlanValue& value) {
  if (!value.type.is_static()) return 0;
  return value.format.is_plain() || value.format.is_channels_last()
             ? byte_count(value.type.element, value.type.extents())
             : 0;
}

/// The bytes that the storage of a value has; nothing when the value names no such storage.
std::optional<std::size_t> storage_bytes(const Plan& plan, const PlanValue& value) {
  const auto buffer_bytes = [&](const std::vector<PlanIndex>& list) -> std::optional<std::size_t> {
    if (value.buffer >= list.size()) return std::nullopt;
    return plan.values[list[value.buffer]].bytes;
  };
  switch (value.storage) {
    case Storage::kInput:
      return buffer_bytes(plan.inputs);
    case Storage::kOutput:
      return buffer_bytes(plan.outputs);
    case Storage::kArena:
      return plan.arena_bytes;
    case Storage::kConstant:
      return plan.weights_bytes;
    case Storage::kDynamic:
      return std::numeric_limits<std::size_t>::max();
  }
  return std::nullopt;
}

Result<void> verify_value(const Plan& plan, PlanIndex index) {
  const PlanValue& value = plan.values[index];
  const std::optional<std::size_t> available = storage_bytes(plan, value);
  if (!available) return damaged(label(plan, index), "a buffer that does not exist", "a model input or output");
  if (value.storage != Storage::kDynamic && !value.type.is_static())
    return damaged(label(plan, index), to_string(value.type), "a static tensor");
  if (value.offset % kBufferAlignment != 0)
    return damaged(label(plan, index), fmt::format("offset {}", value.offset), "a multiple of 64");
  if (value.offset > *available || value.bytes > *available - value.offset)
    return damaged(label(plan, index), fmt::format("{} bytes at {}", value.bytes, value.offset),
                   fmt::format("at most {} bytes of {}", *available, name_of(value.storage)));
  if (value.bytes < least_bytes(value))
    return damaged(label(plan, index), fmt::format("{} bytes", value.bytes),
                   fmt::format("{} bytes for {}", least_bytes(value), to_string(value.type)));
  return {};
}

Result<void> verify_ports(const Plan& plan) {
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    if (plan.inputs[i] >= plan.values.size()) return damaged("inputs", "an index past the values", "a value");
    const PlanValue& value = plan.values[plan.inputs[i]];
    if (value.storage != Storage::kInput || value.buffer != i || value.offset != 0)
      return damaged(label(plan, plan.inputs[i]), std::string(name_of(value.storage)), "the start of its input");
  }
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    if (plan.outputs[i] >= plan.values.size()) return damaged("outputs", "an index past the values", "a value");
    const PlanValue& value = plan.values[plan.outputs[i]];
    const bool in_place = value.storage == Storage::kOutput && value.buffer == i && value.offset == 0;
    if (!in_place && value.storage != Storage::kDynamic)
      return damaged(label(plan, plan.outputs[i]), std::string(name_of(value.storage)), "the start of its output");
  }
  return {};
}

Result<void> verify_step(const Plan& plan, std::size_t index, std::vector<bool>& written) {
  const PlanStep& step = plan.steps[index];
  const std::string where = fmt::format("step {}", index);
  for (const std::vector<PlanIndex>* list : {&step.inputs, &step.outputs, &step.constants})
    for (const PlanIndex value : *list)
      if (value >= plan.values.size()) return damaged(where, fmt::format("value {}", value), "an index of a value");
  for (const PlanIndex value : step.inputs)
    if (!written[value]) return damaged(where, label(plan, value) + " read before it is written", "an earlier write");
  for (const PlanIndex value : step.constants)
    if (plan.values[value].storage != Storage::kConstant)
      return damaged(where, label(plan, value) + " that is not constant", "a constant");
  for (const PlanIndex value : step.outputs) {
    const Storage storage = plan.values[value].storage;
    const bool writable = storage == Storage::kOutput || storage == Storage::kArena || storage == Storage::kDynamic;
    if (!writable && step.kind != StepKind::kView)
      return damaged(where, label(plan, value) + " written in read-only storage", "output, arena or dynamic");
    written[value] = true;
  }
  if (step.workspace_offset % kBufferAlignment != 0 || step.workspace_offset > plan.arena_bytes ||
      step.workspace_bytes > plan.arena_bytes - step.workspace_offset)
    return damaged(where, fmt::format("workspace of {} bytes at {}", step.workspace_bytes, step.workspace_offset),
                   fmt::format("at most {} bytes of arena", plan.arena_bytes));
  const bool listed = std::ranges::any_of(plan.artifacts, [&](const auto& a) { return a.hash == step.artifact; });
  if (step.kind == StepKind::kView ? !step.artifact.empty() : !listed)
    return damaged(where, "artifact '" + step.artifact + "'", "a listed artifact, none for a view");
  return {};
}

}  // namespace

std::optional<PlanIndex> find_value(const Plan& plan, std::string_view name, const Format& format) {
  for (std::size_t i = 0; i < plan.values.size(); ++i)
    if (plan.values[i].name == name && plan.values[i].format == format) return static_cast<PlanIndex>(i);
  return std::nullopt;
}

std::string artifact_hash(std::string_view bytes, std::string_view compatibility) {
  return hash_hex(hash_hex(bytes) + hash_hex(compatibility));
}

std::string_view name_of(Storage storage) {
  switch (storage) {
    case Storage::kInput:
      return "input";
    case Storage::kOutput:
      return "output";
    case Storage::kArena:
      return "arena";
    case Storage::kConstant:
      return "constant";
    case Storage::kDynamic:
      return "dynamic";
  }
  return "?";
}

std::string_view plan_name_of(StepKind kind) {
  switch (kind) {
    case StepKind::kKernel:
      return "kernel";
    case StepKind::kConvert:
      return "convert";
    case StepKind::kView:
      return "view";
  }
  return "?";
}

Result<void> verify(const Plan& plan) {
  if (plan.values.size() > std::numeric_limits<PlanIndex>::max())
    return damaged("values", fmt::format("{} values", plan.values.size()), "fewer than 2^32");
  COLLAGE_TRY_VOID(verify_ports(plan));
  for (std::size_t i = 0; i < plan.values.size(); ++i) COLLAGE_TRY_VOID(verify_value(plan, static_cast<PlanIndex>(i)));

  std::vector<bool> written(plan.values.size(), false);
  for (std::size_t i = 0; i < plan.values.size(); ++i) written[i] = plan.values[i].storage == Storage::kConstant;
  for (const PlanIndex input : plan.inputs) written[input] = true;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) COLLAGE_TRY_VOID(verify_step(plan, i, written));
  for (const PlanIndex output : plan.outputs)
    if (!written[output]) return damaged(label(plan, output), "an output that no step writes", "a write");
  return {};
}

}  // namespace collage
