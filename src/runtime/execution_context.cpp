#include "runtime/execution_context.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "backend/cancel.h"
#include "base/clock.h"
#include "base/float_mode.h"
#include "ir/fits_shape.h"
#include "plan/memory.h"
#include "plan/open_values.h"
#include "runtime/executable_state.h"
#include "runtime/memory_block.h"
#include "runtime/open_step.h"
#include "runtime/port_overlap.h"

namespace collage {
namespace {

/// The inputs of an open plan with the extents they have in one context.
Result<std::vector<TensorPort>> ports_at(std::vector<TensorPort> ports, const std::vector<Extents>& extents) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    TensorPort& port = ports[i];
    const bool has_no_extents = port.type.kind != ValueKind::kTensor;
    if (has_no_extents || ((port.type.is_static() || port.type.is_held()) && extents.empty())) continue;
    const auto refused = [&](std::string saw) {
      return fail(ExitCode::kBadInput, "runtime/open-shape", "input " + port.name, std::move(saw),
                  to_string(port.type));
    };
    if (i >= extents.size()) return refused("no extents");
    const ValueType type = ValueType::tensor(port.type.element, extents[i]);
    if (!fits_shape(port.type, extents[i])) return refused(to_string(type));
    port.type = type;
    port.bytes = byte_count(type.element, extents[i]);
  }
  return ports;
}

/// None on one thread, where no loop is shared out.
Result<std::optional<ThreadPool>> pool_of(const PoolFunctions& functions, const Executable::State& executable) {
  if (functions.parallel_for == nullptr || executable.threads <= 1) return std::nullopt;
  if (executable.own_threads.empty()) return ThreadPool(functions);
  return fail(ExitCode::kUnsupported, "session/pool-not-supported", "pool",
              "a plan for " + std::to_string(executable.threads) + " threads with steps of " + executable.own_threads,
              "a plan for one thread, or with steps that run their loops on a pool");
}

/// The request that calls look at, for the length of a run.
class CancelOfRun {
 public:
  CancelOfRun(std::stop_token& seen, const std::stop_token& given) : seen_(given.stop_possible() ? &seen : nullptr) {
    if (seen_ != nullptr) *seen_ = given;
  }
  CancelOfRun(const CancelOfRun&) = delete;
  CancelOfRun& operator=(const CancelOfRun&) = delete;
  ~CancelOfRun() {
    if (seen_ != nullptr) *seen_ = {};
  }

 private:
  std::stop_token* seen_;
};

}  // namespace

struct ExecutionContext::State {
  /// One model input or output: our own memory and, when bound, the caller's instead.
  struct BoundPort {
    MemoryBlock own;
    std::byte* data = nullptr;
    bool is_own = true;
  };

  /// Neighbouring calls of one queue that start as a whole.
  struct Recorded {
    std::unique_ptr<Call> call;
    std::size_t count = 0;
  };
  struct Started {
    Call* call = nullptr;
    std::size_t first = 0;  ///< index of the first call that it is
  };

  /// `memory`: the caller's, for every port; or empty.
  [[nodiscard]] static Result<std::vector<BoundPort>> make_ports(const std::vector<TensorPort>& ports,
                                                                 const std::vector<std::byte*>& memory) {
    COLLAGE_CHECK(memory.empty() || memory.size() == ports.size(), "memory for every port or none");
    std::vector<BoundPort> out;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      BoundPort bound;
      if (memory.empty()) {
        COLLAGE_TRY(bound.own, MemoryBlock::allocate(ports[i].bytes, ports[i].name));
      } else {
        bound.own = MemoryBlock::over({memory[i], ports[i].bytes});
      }
      bound.data = bound.own.data();
      out.push_back(std::move(bound));
    }
    return out;
  }

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { wait_for_devices(); }

  std::shared_ptr<const Executable::State> executable;
  std::shared_ptr<const MemoryBlock> arena;
  std::vector<TensorPort> input_ports;
  std::vector<Extents> open_inputs;     ///< by input, for a plan whose inputs are open
  std::optional<ThreadPool> pool;       ///< of the caller; calls refer to it
  std::stop_token cancel;               ///< of the run under way; calls refer to it
  bool may_overlap = false;             ///< memory was bound since the last check that passed
  std::vector<PortMemory> port_memory;  ///< of that check: kept for its memory
  DevicePlaces devices;
  std::vector<BoundPort> inputs;
  std::vector<HeldInput> held_inputs;  ///< by input; empty but for those of held types
  std::vector<BoundPort> outputs;
  std::vector<std::unique_ptr<Call>> owned;    ///< by step; null for views
  std::vector<Call*> calls;                    ///< the steps that do something, in order
  std::vector<std::uint32_t> call_steps;       ///< step of each call
  std::vector<DeviceQueue*> call_queues;       ///< where each call's work is queued; null at home
  std::map<std::uint32_t, Recorded> recorded;  ///< by the step of its first call
  std::vector<Started> started;                ///< what a run starts, in order

  [[nodiscard]] const Plan& plan() const { return executable->plan.plan; }

  /// Before calls end: what is queued refers to them. Its errors were reported, or nobody asks any more.
  void wait_for_devices() const {
    for (const auto& [location, device] : devices)
      if (device.queue) (void)device.queue->wait();
  }

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(std::size_t step) {
    BodyMemory memory{.inputs = {}, .outputs = {}, .arena = arena->data(), .devices = &devices};
    if (!open_inputs.empty()) memory.input_extents = &open_inputs;
    if (pool) memory.pool = &*pool;
    memory.cancel = &cancel;
    memory.calls = &owned;
    memory.held_inputs = &held_inputs;
    for (const BoundPort& port : inputs) memory.inputs.push_back(port.data);
    for (const BoundPort& port : outputs) memory.outputs.push_back(port.data);
    return bind_step(executable->model, memory, step);
  }

  [[nodiscard]] Result<void> bind_all() {
    for (std::size_t i = 0; i < plan().steps.size(); ++i) {
      owned.emplace_back();
      COLLAGE_TRY(owned.back(), bind(i));
    }
    list_calls();
    COLLAGE_TRY_VOID(record_neighbours());
    list_calls();
    return {};
  }

  /// Kernels of one queue that follow each other: it may know how to start them all at once. Their memory is a
  /// device's, so they stay as they are when ports of the model are bound anew.
  [[nodiscard]] Result<void> record_neighbours() {
    for (std::size_t end = 0, begin = 0; begin < calls.size(); begin = std::max(end, begin + 1)) {
      end = begin;
      while (end < calls.size() && is_queued_kernel(end) && call_queues[end] == call_queues[begin]) ++end;
      if (end - begin < 2) continue;
      COLLAGE_TRY(auto call, call_queues[begin]->record(std::span(calls).subspan(begin, end - begin)));
      if (call) recorded[call_steps[begin]] = {.call = std::move(call), .count = end - begin};
    }
    return {};
  }

  /// A transfer waits for its copy: it cannot be part of what is started as a whole.
  [[nodiscard]] bool is_queued_kernel(std::size_t call) const {
    return call_queues[call] != nullptr && !is_transfer(plan().steps[call_steps[call]]);
  }

  void list_calls() {
    calls.clear();
    call_steps.clear();
    call_queues.clear();
    for (std::size_t i = 0; i < owned.size(); ++i) {
      if (!owned[i]) continue;
      calls.push_back(owned[i].get());
      call_steps.push_back(static_cast<std::uint32_t>(i));
      const auto device = devices.find(location_of(plan().steps[i]));
      call_queues.push_back(device == devices.end() ? nullptr : device->second.queue.get());
    }
    started.clear();
    for (std::size_t i = 0; i < calls.size();) {
      const auto found = recorded.find(call_steps[i]);
      started.push_back({.call = found == recorded.end() ? calls[i] : found->second.call.get(), .first = i});
      i += found == recorded.end() ? 1 : found->second.count;
    }
  }

  /// Binds anew every step that touches model input or output `port`; all or nothing.
  [[nodiscard]] Result<void> rebind(Storage storage, std::size_t port) {
    const auto touches = [&](PlanIndex index) {
      return plan().values[index].storage == storage && plan().values[index].buffer == port;
    };
    std::vector<std::pair<std::size_t, std::unique_ptr<Call>>> made;
    for (std::size_t i = 0; i < plan().steps.size(); ++i) {
      const PlanStep& step = plan().steps[i];
      if (!owned[i] || (std::ranges::none_of(step.inputs, touches) && std::ranges::none_of(step.outputs, touches)))
        continue;
      COLLAGE_TRY(std::unique_ptr<Call> call, bind(i));
      made.emplace_back(i, std::move(call));
    }
    wait_for_devices();
    for (auto& [step, call] : made) owned[step] = std::move(call);
    list_calls();
    return {};
  }

  [[nodiscard]] Result<void> bind_port(std::vector<BoundPort>& ports, Storage storage, std::size_t i, void* data) {
    const std::string where = fmt::format("{} {}", name_of(storage), i);
    const std::vector<PlanIndex>& values = storage == Storage::kOutput ? plan().outputs : plan().inputs;
    const bool is_dynamic = i < ports.size() && is_given_in_run(plan().values[values[i]]);
    if (i >= ports.size() || is_dynamic)
      return fail(ExitCode::kUsage, "runtime/no-port", where,
                  is_dynamic ? "a value that lies in no buffer" : "no such port",
                  fmt::format("one of {} ports with a fixed shape", ports.size()));
    if (reinterpret_cast<std::uintptr_t>(data) % kBufferAlignment != 0)
      return fail(ExitCode::kUsage, "runtime/unaligned", where, "memory at an odd address", "64-byte aligned memory");
    std::byte* const before = ports[i].data;
    const bool was_own = ports[i].is_own;
    ports[i].is_own = data == nullptr;
    ports[i].data = data == nullptr ? ports[i].own.data() : static_cast<std::byte*>(data);
    if (auto done = rebind(storage, i); !done) {
      ports[i].data = before;
      ports[i].is_own = was_own;
      return done;
    }
    may_overlap = true;
    port_memory.reserve(inputs.size() + outputs.size());
    return {};
  }

  /// Ports are bound one at a time, so memory may overlap in between: a run looks at all of them.
  [[nodiscard]] Result<void> check_overlap() {
    if (!may_overlap) return {};
    port_memory.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      port_memory.push_back({.begin = inputs[i].data, .bytes = input_ports[i].bytes, .index = i});
    for (std::size_t i = 0; i < outputs.size(); ++i)
      port_memory.push_back(
          {.begin = outputs[i].data, .bytes = executable->outputs[i].bytes, .index = i, .is_output = true});
    if (const auto found = find_overlap(port_memory))
      return fail(ExitCode::kUsage, "runtime/overlap", name_of_port(found->first),
                  "memory that " + name_of_port(found->second) + " uses, too", "memory of its own for every output");
    may_overlap = false;
    return {};
  }

  [[nodiscard]] std::string name_of_port(const PortMemory& port) const {
    return port.is_output ? "output " + executable->outputs[port.index].name : "input " + input_ports[port.index].name;
  }

  /// A run in which the pool left out work.
  [[nodiscard]] Result<void> check_pool() {
    if (!pool || !pool->take_failure()) return {};
    return fail(ExitCode::kUsage, "session/pool-failed", "pool", "a parallel_for that threw or left out tasks",
                "one call of the task for each index");
  }

  /// A step's error, which may be due to the pool.
  [[nodiscard]] std::unexpected<Error> failed(std::size_t call, Error error) {
    wait_for_devices();  // what is queued is this run's
    if (auto done = check_pool(); !done) return std::unexpected(std::move(done).error());
    const std::uint32_t step = call_steps[call];
    error.where = fmt::format("step {} ({}): {}", step, plan().steps[step].backend, error.where);
    return std::unexpected(std::move(error));
  }
};

ExecutionContext::ExecutionContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutionContext::ExecutionContext(ExecutionContext&&) noexcept = default;
ExecutionContext& ExecutionContext::operator=(ExecutionContext&&) noexcept = default;
ExecutionContext::~ExecutionContext() = default;

Result<ExecutionContext> Executable::make_context(const ExecutionOptions& options) const {
  auto made = std::make_unique<ExecutionContext::State>();
  made->executable = state_;
  COLLAGE_TRY(made->pool, pool_of(options.pool, *state_));
  made->arena = options.arena;
  if (made->arena == nullptr) {
    COLLAGE_TRY(MemoryBlock own, MemoryBlock::allocate(plan().arena_bytes, "arena"));
    made->arena = std::make_shared<const MemoryBlock>(std::move(own));
  }
  COLLAGE_CHECK(made->arena->size() >= plan().arena_bytes, "a shared arena that is too small");
  COLLAGE_TRY(made->input_ports, ports_at(inputs(), options.inputs));
  if (is_open())
    for (const TensorPort& port : made->input_ports) made->open_inputs.push_back(port.type.extents());
  for (const auto& [location, device] : state_->devices) {
    COLLAGE_TRY(made->devices[location], make_device_place(*device, plan().device_arena_bytes.at(location)));
  }
  COLLAGE_TRY(made->inputs, ExecutionContext::State::make_ports(made->input_ports, options.input_memory));
  COLLAGE_TRY(made->outputs, ExecutionContext::State::make_ports(outputs(), options.output_memory));
  made->held_inputs.resize(made->inputs.size());
  COLLAGE_TRY_VOID(made->bind_all());
  return ExecutionContext(std::move(made));
}

const std::vector<TensorPort>& ExecutionContext::inputs() const { return state_->input_ports; }
const std::vector<TensorPort>& ExecutionContext::outputs() const { return state_->executable->outputs; }

std::span<std::byte> ExecutionContext::input(std::size_t i) {
  COLLAGE_CHECK(i < state_->inputs.size());
  if (!state_->inputs[i].is_own) return {};
  return {state_->inputs[i].data, state_->input_ports[i].bytes};
}

std::span<const std::byte> ExecutionContext::output(std::size_t i) const {
  COLLAGE_CHECK(i < state_->outputs.size());
  return {state_->outputs[i].data, state_->executable->outputs[i].bytes};
}

Result<DynamicOutput> ExecutionContext::output_tensor(std::size_t i) const {
  COLLAGE_CHECK(i < state_->outputs.size());
  const PlanIndex index = state_->plan().outputs[i];
  const PlanValue& value = state_->plan().values[index];
  if (value.storage == Storage::kInput) return OpenSource{.input = &state_->held_inputs[value.buffer]}.read();
  if (value.storage != Storage::kDynamic)
    return DynamicOutput{value.type.element, value.type.extents(), state_->outputs[i].data};
  const auto [step, port] = state_->executable->model.open_values.at(index);
  return state_->owned[step]->dynamic_output(port);
}

Result<void> ExecutionContext::set_held_input(std::size_t i, std::shared_ptr<const HeldValue> value) {
  if (i >= state_->inputs.size() || !state_->input_ports[i].type.is_held())
    return fail(ExitCode::kUsage, "runtime/no-port", fmt::format("input {}", i), "no such port, or a tensor of numbers",
                "an input of strings, a sequence, an optional or a map");
  HeldInput& input = state_->held_inputs[i];
  input.value = std::move(value);
  ++input.version;
  return {};
}

Result<void> ExecutionContext::bind_input(std::size_t i, const void* data) {
  // Calls read inputs only; one pointer type serves both directions.
  return state_->bind_port(state_->inputs, Storage::kInput, i, const_cast<void*>(data));
}

Result<void> ExecutionContext::bind_output(std::size_t i, void* data) {
  return state_->bind_port(state_->outputs, Storage::kOutput, i, data);
}

Result<void> ExecutionContext::run(const std::stop_token& cancel) {
  const DefaultFloatMode mode;
  COLLAGE_TRY_VOID(state_->check_overlap());
  const CancelOfRun scope(state_->cancel, cancel);
  for (const auto& [call, first] : state_->started) {
    if (cancel.stop_requested()) return state_->failed(first, run_cancelled().error());
    if (auto done = call->run(); !done) return state_->failed(first, std::move(done).error());
  }
  return state_->check_pool();
}

Result<void> ExecutionContext::run_from(std::size_t step) {
  const DefaultFloatMode mode;
  for (std::size_t i = 0; i < state_->calls.size(); ++i) {
    if (state_->call_steps[i] < step) continue;
    if (auto done = state_->calls[i]->run(); !done) return state_->failed(i, std::move(done).error());
  }
  state_->wait_for_devices();
  return state_->check_pool();
}

Result<void> ExecutionContext::run_profiled(std::span<std::int64_t> times_ns,
                                            const std::function<void(std::size_t)>& after_step) {
  COLLAGE_CHECK(times_ns.size() >= state_->plan().steps.size());
  COLLAGE_TRY_VOID(state_->check_overlap());
  std::ranges::fill(times_ns, 0);
  const DefaultFloatMode mode;
  Clock::time_point last = Clock::now();
  for (std::size_t i = 0; i < state_->calls.size(); ++i) {
    if (auto done = state_->calls[i]->run(); !done) return state_->failed(i, std::move(done).error());
    if (DeviceQueue* const queue = state_->call_queues[i])
      if (auto done = queue->wait(); !done) return state_->failed(i, std::move(done).error());
    const Clock::time_point now = Clock::now();
    times_ns[state_->call_steps[i]] = std::chrono::duration_cast<std::chrono::nanoseconds>(now - last).count();
    last = now;
    if (!after_step) continue;
    after_step(state_->call_steps[i]);
    last = Clock::now();
  }
  return state_->check_pool();
}

}  // namespace collage
