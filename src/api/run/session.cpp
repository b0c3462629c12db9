#include "api/run/session.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "api/run/loaded_plan_state.h"
#include "backend/cancel.h"
#include "backend/held_value.h"
#include "base/stop_timer.h"
#include "ir/check_value.h"
#include "runtime/memory_block.h"

namespace collage {
namespace {

/// Contexts of the generic plan that are kept ready.
constexpr std::size_t kMostGeneric = 64;

std::unexpected<Error> no_shape() {
  return fail(ExitCode::kUsage, "session/no-shape", "run", "inputs with open extents", "a call of set_shapes() before");
}

}  // namespace

struct Session::State {
  /// A shape made ready.
  struct ReadyShape {
    ExecutionContext context;
    const Executable* executable = nullptr;
    std::size_t last_use = 0;
  };

  State(std::shared_ptr<LoadedPlan::State> of, const SessionOptions& given)
      : loaded(std::move(of)), options(given), cases(loaded->cases.cases.size()) {}

  [[nodiscard]] Result<ExecutionContext> make(const Executable& of, std::vector<Extents> inputs) {
    if (arena == nullptr) {
      COLLAGE_TRY(MemoryBlock block, MemoryBlock::allocate(loaded->arena_bytes, "arena"));
      arena = std::make_shared<const MemoryBlock>(std::move(block));
    }
    return of.make_context({.inputs = std::move(inputs), .arena = arena, .pool = options.pool});
  }

  void use(ReadyShape& shape) {
    shape.last_use = ++uses;
    executable = shape.executable;
    current = &shape.context;
  }

  /// Runs the case from now on.
  [[nodiscard]] Result<void> use_case(std::size_t which) {
    std::optional<ReadyShape>& known = cases[which];
    if (!known) {
      COLLAGE_TRY(const Executable* const chosen, loaded->executable(which));
      COLLAGE_TRY(ExecutionContext made, make(*chosen, {}));
      known.emplace(ReadyShape{std::move(made), chosen});
    }
    use(*known);
    return {};
  }

  /// Runs a plan with open inputs at these extents from now on; `point` stands for them.
  [[nodiscard]] Result<void> use_open(std::size_t which, std::span<const Extents> inputs) {
    auto found = open.find(point);
    if (found == open.end()) {
      COLLAGE_TRY(const Executable* const chosen, loaded->executable(which));
      COLLAGE_TRY(ExecutionContext made, make(*chosen, {inputs.begin(), inputs.end()}));
      executable = nullptr;  // what is dropped next may be what ran last
      current = nullptr;
      if (open.size() >= kMostGeneric)
        open.erase(std::ranges::min_element(open, {}, [](const auto& entry) { return entry.second.last_use; }));
      found = open.emplace(point, ReadyShape{std::move(made), chosen}).first;
    }
    use(found->second);
    return {};
  }

  [[nodiscard]] Result<void> set_shapes(std::span<const Extents> inputs) {
    if (!loaded->reader.read(inputs, point)) {
      COLLAGE_TRY_VOID(point_of_inputs(loaded->cases, inputs));
      return fail(ExitCode::kBadInput, "input/wrong-shape", "inputs", "extents that the plan does not take",
                  "extents of 0 or more, in the plan's dimensions");
    }
    if (loaded->is_fixed()) return {};
    if (loaded->cases.domain.dimensions.empty()) return use_open(0, inputs);
    if (const std::size_t which = loaded->table.find(point); which != CaseTable::kNone) return use_case(which);
    if (!open.contains(point)) COLLAGE_TRY_VOID(plan_for(loaded->cases, point));
    return use_open(CaseTable::kNone, inputs);
  }

  /// Ends the run at the deadline, or when the caller asks for it.
  [[nodiscard]] Result<void> run_until(Clock::time_point deadline, const std::stop_token& cancel) {
    if (!timer) timer = std::make_unique<StopTimer>();
    timer->call_off();  // of a run that threw
    if (early_end.stop_requested()) early_end = std::stop_source();
    const std::stop_callback on_cancel(cancel, [this] { early_end.request_stop(); });
    timer->start(early_end, deadline);
    Result<void> done = current->run(early_end.get_token());
    const bool is_late = timer->call_off();
    if (done || !is_late || cancel.stop_requested() || done.error().code != "session/cancelled") return done;
    return fail(ExitCode::kLimit, "session/deadline", done.error().where, "the deadline of the run", "an earlier end");
  }

  std::shared_ptr<LoadedPlan::State> loaded;
  SessionOptions options;
  std::unique_ptr<StopTimer> timer;          ///< once there was a deadline
  std::stop_source early_end;                ///< of runs with a deadline
  std::shared_ptr<const MemoryBlock> arena;  ///< of all contexts: one runs at a time
  std::vector<std::optional<ReadyShape>> cases;
  std::map<ShapePoint, ReadyShape> open;
  std::size_t uses = 0;
  ShapePoint point;                        ///< read last
  const Executable* executable = nullptr;  ///< of the shape set now; null before there is one
  ExecutionContext* current = nullptr;     ///< likewise
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> LoadedPlan::make_session(const SessionOptions& options) const {
  Session session(std::make_unique<Session::State>(state_, options));
  if (state_->is_fixed()) COLLAGE_TRY_VOID(session.state_->use_case(0));
  return session;
}

const std::vector<TensorPort>& Session::inputs() const {
  return state_->current == nullptr ? state_->loaded->inputs : state_->current->inputs();
}

const std::vector<TensorPort>& Session::outputs() const {
  return state_->current == nullptr ? state_->loaded->outputs : state_->current->outputs();
}

Result<void> Session::set_shapes(std::span<const Extents> inputs) { return state_->set_shapes(inputs); }

std::span<std::byte> Session::input(std::size_t i) {
  return state_->current == nullptr ? std::span<std::byte>{} : state_->current->input(i);
}

std::span<const std::byte> Session::output(std::size_t i) const {
  return state_->current == nullptr ? std::span<const std::byte>{} : state_->current->output(i);
}

Result<DynamicOutput> Session::output_tensor(std::size_t i) const {
  if (state_->current == nullptr) return no_shape();
  return state_->current->output_tensor(i);
}

Result<void> Session::bind_input(std::size_t i, const void* data) {
  if (state_->current == nullptr) return no_shape();
  return state_->current->bind_input(i, data);
}

Result<void> Session::bind_output(std::size_t i, void* data) {
  if (state_->current == nullptr) return no_shape();
  return state_->current->bind_output(i, data);
}

Result<void> Session::set_inputs(std::span<const Tensor> inputs) {
  const std::vector<TensorPort>& ports = this->inputs();
  if (inputs.size() != ports.size())
    return fail(ExitCode::kBadInput, "input/wrong-count", "inputs", std::to_string(inputs.size()),
                std::to_string(ports.size()));
  if (!state_->loaded->is_fixed()) {
    std::vector<Extents> extents;
    for (const Tensor& input : inputs) extents.push_back(input.extents);
    COLLAGE_TRY_VOID(set_shapes(extents));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) COLLAGE_TRY_VOID(set_value(i, inputs[i]));
  return {};
}

Result<void> Session::set_value(std::size_t i, const Tensor& value) {
  if (state_->current == nullptr) return no_shape();
  COLLAGE_CHECK(i < inputs().size(), "an input's position");
  const TensorPort& port = inputs()[i];
  const std::string where = "input " + port.name;
  if (port.type.is_held()) {
    COLLAGE_TRY_VOID(check_value(where, port.type, value));
    return state_->current->set_held_input(i, std::make_shared<const PlainValue>(value));
  }
  if (value.value_type() != port.type || value.data.size() != port.bytes)
    return fail(ExitCode::kBadInput, "input/wrong-shape", where, to_string(value.value_type()), to_string(port.type));
  if (port.bytes == 0) return {};
  const std::span<std::byte> bytes = state_->current->input(i);
  if (bytes.empty())
    return fail(ExitCode::kUsage, "input/bound", where, "the caller's memory is bound to it",
                "an input with the session's own memory");
  std::memcpy(bytes.data(), value.data.data(), port.bytes);
  return {};
}

Result<Tensor> Session::value(std::size_t i) const {
  COLLAGE_TRY(const DynamicOutput output, output_tensor(i));
  return copy_of(output);
}

Result<std::vector<Tensor>> Session::copy_outputs() const {
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < outputs().size(); ++i) {
    COLLAGE_TRY(result.emplace_back(), value(i));
  }
  return result;
}

Result<void> Session::run() {
  if (state_->current == nullptr) return no_shape();
  return state_->current->run();
}

Result<void> Session::run(const RunOptions& options) {
  if (state_->current == nullptr) return no_shape();
  if (options.deadline) return state_->run_until(*options.deadline, options.cancel);
  return state_->current->run(options.cancel);
}

Result<void> Session::run_profiled(std::span<std::int64_t> times_ns,
                                   const std::function<void(std::size_t)>& after_step) {
  if (state_->current == nullptr) return no_shape();
  return state_->current->run_profiled(times_ns, after_step);
}

Result<std::vector<std::int64_t>> Session::profile(int runs, const std::stop_token& cancel) {
  if (state_->current == nullptr) return no_shape();
  const std::size_t steps = plan().steps.size();
  std::vector<std::vector<std::int64_t>> samples(steps);
  std::vector<std::int64_t> times(steps);
  for (int r = 0; r < runs; ++r) {
    if (cancel.stop_requested()) return run_cancelled();
    COLLAGE_TRY_VOID(run_profiled(times));
    for (std::size_t s = 0; s < steps; ++s) samples[s].push_back(times[s]);
  }
  for (std::size_t s = 0; s < steps; ++s) {
    const auto middle = samples[s].begin() + static_cast<std::ptrdiff_t>(samples[s].size() / 2);
    std::ranges::nth_element(samples[s], middle);
    times[s] = *middle;
  }
  return times;
}

const Plan& Session::plan() const {
  COLLAGE_CHECK(state_->executable != nullptr, "a session without a shape has no plan yet");
  return state_->executable->plan();
}

}  // namespace collage
