#include "runtime/loaded_body.h"

#include <fmt/format.h>

#include "backend/extensions/format_extension.h"
#include "backend/open_kernel.h"
#include "plan/damaged.h"
#include "plan/open_values.h"
#include "runtime/control_call.h"
#include "runtime/load_request.h"
#include "runtime/open_step.h"
#include "runtime/operand_check.h"

namespace collage {
namespace {

std::string text_of(const std::vector<Port>& ports) {
  std::string text;
  for (const Port& port : ports) text += to_string(port.type) + "@" + port.place.format.name + ";";
  return text;
}

OpenValues open_values_of(const PlanBody& plan) {
  OpenValues open;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    for (std::uint32_t port = 0; port < plan.steps[i].outputs.size(); ++port)
      if (const PlanIndex value = plan.steps[i].outputs[port]; plan.values[value].storage == Storage::kDynamic)
        open[value] = {i, port};
  return open;
}

/// A port in a format that its backend alone knows has the bytes that the backend says: the check of the plan knows
/// those of the common formats.
Result<void> check_format_bytes(const Backend& backend, const PlanBody& plan, const PlanStep& step) {
  for (const std::vector<PlanIndex>* ports : {&step.inputs, &step.outputs})
    for (const PlanIndex port : *ports) {
      const PlanValue& value = plan.values[port];
      if (is_common(value.place.format)) continue;
      const std::optional<std::size_t> needed = format_bytes(backend, value.type, value.place.format);
      if (!needed || value.bytes < *needed)
        return damaged(value.name, fmt::format("{} bytes in format {}", value.bytes, value.place.format.name),
                       needed ? fmt::format("{} bytes", *needed) : "a format of " + step.backend);
    }
  return {};
}

}  // namespace

Error in_step(Error error, std::size_t index, const PlanStep& step) {
  const std::vector<std::string>& nodes = nodes_of(step).names;
  error.where = fmt::format("step {} ({}{}{}): {}", index, step.backend, nodes.empty() ? "" : " ",
                            nodes.empty() ? "" : nodes.front(), error.where);
  return error;
}

Result<LoadedBody> KernelLoader::load_model() { return load(realised_.plan, realised_.constants, ""); }

Result<LoadedBody> KernelLoader::load(const PlanBody& plan, std::map<PlanIndex, Tensor> constants,
                                      const std::string& where) {
  LoadedBody body{.plan = &plan,
                  .constants = std::move(constants),
                  .open_values = open_values_of(plan),
                  .kernels = std::vector<const Kernel*>(plan.steps.size()),
                  .bodies = std::vector<std::vector<LoadedBody>>(plan.steps.size())};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    for (const PlanBody& inner : bodies_of(step)) {
      auto loaded = load(inner, body_constants(inner, body.constants), inner.name + ": ");
      if (!loaded) return std::unexpected(in_step(std::move(loaded).error(), i, step));
      body.bodies[i].push_back(std::move(*loaded));
    }
    if (artifact_of(step) == nullptr) continue;
    const auto loaded = kernel(body, step);
    if (!loaded) {
      Error error = in_step(loaded.error(), i, step);
      error.where = where + error.where;
      return std::unexpected(std::move(error));
    }
    body.kernels[i] = *loaded;
  }
  return body;
}

Result<const Kernel*> KernelLoader::kernel(const LoadedBody& body, const PlanStep& step) {
  const PlanBody& plan = *body.plan;
  const StepArtifact& artifact = *artifact_of(step);
  COLLAGE_TRY(Backend* const backend, backends_(step.backend));
  COLLAGE_TRY_VOID(check_format_bytes(*backend, plan, step));
  KernelKey key{step.backend,
                artifact.hash,
                artifact.entry,
                {},
                text_of(ports_of(plan, step.inputs)) + "->" + text_of(ports_of(plan, step.outputs))};
  for (const PlanIndex constant : artifact.constants) {
    key.constants.push_back(body.constants.at(constant).data.data());
    key.ports += to_string(plan.values[constant].type) + ";";
  }
  const Kernel*& kernel = known_[std::move(key)];
  if (kernel != nullptr) return kernel;
  COLLAGE_TRY(std::unique_ptr<Kernel> made,
              backend->load(load_request(realised_, plan, body.constants, step, threads_)));
  kernel = made.get();
  kernels_.push_back(std::move(made));
  return kernel;
}

std::byte* address_of(const LoadedBody& body, const BodyMemory& memory, PlanIndex index) {
  const PlanValue& value = body.plan->values[index];
  switch (value.storage) {
    case Storage::kInput:
      if (value.type.is_held()) return nullptr;
      return memory.inputs[value.buffer] + value.offset;
    case Storage::kOutput:
      return memory.outputs[value.buffer] + value.offset;
    case Storage::kArena:
      return memory.arena + value.offset;
    case Storage::kDevice:
      return memory.devices->at(value.place.location).arena->data() + value.offset;
    // Read only: a plan writes to no constant (plan verify()), the pointer type is that of the common case.
    case Storage::kConstant:
      return const_cast<std::byte*>(body.constants.at(index).data.data());
    case Storage::kDynamic:
      return nullptr;
  }
  return nullptr;
}

namespace {

std::unique_ptr<Call> bind_transfer(const LoadedBody& body, const BodyMemory& memory, const PlanStep& step) {
  const PlanValue& from = body.plan->values[step.inputs.front()];
  const PlanValue& to = body.plan->values[step.outputs.front()];
  const Direction direction = from.place.location == kHome ? Direction::kIn : Direction::kOut;
  const DevicePlace& device = memory.devices->at(direction == Direction::kIn ? to.place.location : from.place.location);
  return transfer_call(*device.queue, direction, address_of(body, memory, step.outputs.front()),
                       address_of(body, memory, step.inputs.front()), from.bytes);
}

/// For a plan whose inputs have the extents given.
Result<std::unique_ptr<Call>> bind_open(const LoadedBody& body, const BodyMemory& memory, std::size_t index,
                                        const Buffers& buffers) {
  const PlanStep& step = body.plan->steps[index];
  COLLAGE_TRY(const OpenKernel* const kernel, open_kernel_of(body, index));
  std::vector<Extents> extents;
  for (const PlanIndex input : step.inputs) extents.push_back(extents_of(memory, body.plan->values[input]));
  return kernel->bind_at(buffers, extents);
}

}  // namespace

Result<const OpenKernel*> open_kernel_of(const LoadedBody& body, std::size_t index) {
  if (const OpenKernel* const kernel = body.kernels[index]->as_open()) return kernel;
  return fail(ExitCode::kUnsupported, "backend/fixed-shapes",
              fmt::format("step {} ({})", index, body.plan->steps[index].backend), "a kernel of fixed shapes",
              "one that takes inputs of open shape");
}

Extents extents_of(const BodyMemory& memory, const PlanValue& value) {
  if (value.type.is_held()) return {};
  return value.type.is_static() ? value.type.extents() : (*memory.input_extents)[value.buffer];
}

Result<std::unique_ptr<Call>> bind_step(const LoadedBody& body, const BodyMemory& memory, std::size_t index) {
  const PlanStep& step = body.plan->steps[index];
  if (std::holds_alternative<PlanControl>(step.work)) return bind_control(body, memory, index);
  if (is_transfer(step)) return bind_transfer(body, memory, step);
  if (body.kernels[index] == nullptr) return nullptr;
  Buffers buffers;
  buffers.pool = memory.pool;
  buffers.cancel = memory.cancel;
  for (const PlanIndex input : step.inputs) buffers.inputs.push_back(address_of(body, memory, input));
  for (const PlanIndex output : step.outputs) buffers.outputs.push_back(address_of(body, memory, output));
  std::byte* arena = memory.arena;
  if (const std::string& location = location_of(step); location != kHome) {
    const DevicePlace& device = memory.devices->at(location);
    arena = device.arena->data();
    buffers.queue = device.queue.get();
  }
  if (const Workspace workspace = workspace_of(step); workspace.bytes > 0) buffers.workspace = arena + workspace.offset;
  const auto bound = [&] {
    if (reads_open_value(*body.plan, step)) return open_step_call(body, memory, index, std::move(buffers));
    return memory.input_extents != nullptr ? bind_open(body, memory, index, buffers)
                                           : body.kernels[index]->bind(buffers);
  };
  COLLAGE_TRY(std::unique_ptr<Call> call, bound());
  return with_checks(body, memory, step, std::move(call));
}

}  // namespace collage
