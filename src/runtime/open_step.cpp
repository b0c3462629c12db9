#include "runtime/open_step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "backend/open_kernel.h"
#include "ir/fits_shape.h"
#include "plan/open_values.h"
#include "runtime/memory_block.h"

namespace collage {
namespace {

/// Stands for the memory of tensors without elements.
alignas(64) constexpr std::byte kNowhere[64] = {};

struct OpenInput {
  std::size_t port = 0;  ///< of the step
  OpenSource source;
  const PlanValue* value = nullptr;
  MemoryBlock copy;           ///< of elements at an unaligned address; grows
  std::uint64_t version = 0;  ///< of the held model input that was taken last
};

/// An input's extents, and its elements at an aligned address.
Result<const void*> aligned_data(OpenInput& input, const DynamicOutput& given) {
  const std::size_t bytes = byte_count(given.type, given.extents);
  if (bytes == 0) return kNowhere;
  if (reinterpret_cast<std::uintptr_t>(given.data) % kBufferAlignment == 0) return given.data;
  if (input.copy.size() < bytes) {
    COLLAGE_TRY(input.copy, MemoryBlock::allocate(std::max(bytes, 2 * input.copy.size()), input.value->name));
  }
  std::memcpy(input.copy.data(), given.data, bytes);
  return input.copy.data();
}

/// Whether the value is what the plan says.
Result<void> check_type(const PlanValue& value, const DynamicOutput& given) {
  if (given.type == value.type.element && fits_shape(value.type, given.extents)) return {};
  return fail(ExitCode::kUnsupported, "runtime/open-shape", value.name,
              to_string(ValueType::tensor(given.type, given.extents)), to_string(value.type));
}

class OpenStepCall final : public Call {
 public:
  OpenStepCall(const OpenKernel& kernel, Buffers buffers, std::vector<Extents> extents, std::vector<OpenInput> inputs)
      : kernel_(kernel), buffers_(std::move(buffers)), extents_(std::move(extents)), inputs_(std::move(inputs)) {}

  Result<void> run() override {
    // After an error nobody knows what the call is bound to.
    if (!std::exchange(is_bound_, false)) call_.reset();
    COLLAGE_TRY(const bool has_moved, read_inputs());
    if (has_moved || !call_) COLLAGE_TRY_VOID(move_or_bind());
    is_bound_ = true;
    return call_->run();
  }

  Result<DynamicOutput> dynamic_output(std::size_t port) override {
    if (is_bound_) return call_->dynamic_output(port);
    return fail(ExitCode::kUsage, "runtime/open-shape", fmt::format("output port {}", port), "no run yet",
                "a run first");
  }

 private:
  /// Whether some input lies elsewhere or has other extents than in the last run.
  Result<bool> read_inputs() {
    bool has_moved = false;
    for (OpenInput& input : inputs_) {
      COLLAGE_TRY(DynamicOutput given, input.source.read());
      if (input.value->type.is_held()) {
        COLLAGE_TRY(const bool is_new, read_held(input, given));
        has_moved |= is_new;
        continue;
      }
      COLLAGE_TRY_VOID(check_type(*input.value, given));
      COLLAGE_TRY(const void* const data, aligned_data(input, given));
      const void*& bound = buffers_.inputs[input.port];
      Extents& extents = extents_[input.port];
      has_moved |= bound != data || extents != given.extents;
      bound = data;
      extents = std::move(given.extents);
    }
    return has_moved;
  }

  /// Whether the call has to take the value: one that a step made always, because its call may have filled the same
  /// object with something else.
  Result<bool> read_held(OpenInput& input, const DynamicOutput& given) {
    if (given.held == nullptr)
      return fail(ExitCode::kUnsupported, "runtime/open-shape", input.value->name, "a tensor of numbers",
                  to_string(input.value->type));
    buffers_.inputs[input.port] = given.held;
    const HeldInput* const from = input.source.input;
    if (from == nullptr) return true;
    return std::exchange(input.version, from->version) != from->version;
  }

  Result<void> move_or_bind() {
    if (call_) {
      COLLAGE_TRY(const bool has_moved, call_->move_inputs(buffers_.inputs, extents_));
      if (has_moved) return {};
    }
    COLLAGE_TRY(call_, kernel_.bind_at(buffers_, extents_));
    return {};
  }

  const OpenKernel& kernel_;
  Buffers buffers_;
  std::vector<Extents> extents_;  ///< by input, of the last run
  std::vector<OpenInput> inputs_;
  std::unique_ptr<Call> call_;
  bool is_bound_ = false;  ///< to the inputs of the last run
};

}  // namespace

Result<DynamicOutput> OpenSource::read() const {
  if (given != nullptr) return *given;
  if (input == nullptr) return (*calls)[step]->dynamic_output(port);
  if (input->value == nullptr)
    return fail(ExitCode::kUsage, "input/missing", "an input of strings, a sequence, an optional or a map",
                "nothing was set", "a value before the run");
  return DynamicOutput{.extents = {}, .held = input->value.get()};
}

OpenSource source_of(const LoadedBody& body, const BodyMemory& memory, PlanIndex value) {
  const PlanValue& of = body.plan->values[value];
  if (of.storage == Storage::kInput) return {.input = &(*memory.held_inputs)[of.buffer]};
  const auto made = body.open_values.find(value);
  if (made == body.open_values.end()) return (*memory.open_inputs)[of.buffer];
  return {.calls = memory.calls, .step = made->second.first, .port = made->second.second};
}

OpenSource tensor_source(const LoadedBody& body, const BodyMemory& memory, PlanIndex index,
                         std::deque<DynamicOutput>& known) {
  const PlanValue& value = body.plan->values[index];
  if (is_given_in_run(value)) return source_of(body, memory, index);
  known.push_back(
      {.type = value.type.element, .extents = extents_of(memory, value), .data = address_of(body, memory, index)});
  return {.given = &known.back()};
}

Result<std::unique_ptr<Call>> open_step_call(const LoadedBody& body, const BodyMemory& memory, std::size_t index,
                                             Buffers buffers) {
  const PlanStep& step = body.plan->steps[index];
  COLLAGE_TRY(const OpenKernel* const kernel, open_kernel_of(body, index));
  std::vector<Extents> extents;
  std::vector<OpenInput> inputs;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const PlanValue& value = body.plan->values[step.inputs[i]];
    const bool is_made = is_given_in_run(value);
    if (is_made)
      inputs.push_back({.port = i, .source = source_of(body, memory, step.inputs[i]), .value = &value, .copy = {}});
    extents.push_back(is_made ? Extents() : extents_of(memory, value));
  }
  return std::make_unique<OpenStepCall>(*kernel, std::move(buffers), std::move(extents), std::move(inputs));
}

}  // namespace collage
