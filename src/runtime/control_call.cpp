#include "runtime/control_call.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "backend/cancel.h"
#include "plan/control.h"

namespace collage {
namespace {

/// The steps of one body, bound.
class BoundBody {
 public:
  static Result<BoundBody> bind(const LoadedBody& body, const BodyMemory& memory) {
    BoundBody bound;
    bound.body_ = &body;
    bound.cancel_ = memory.cancel;
    for (std::size_t i = 0; i < body.plan->steps.size(); ++i) {
      COLLAGE_TRY(std::unique_ptr<Call> call, bind_step(body, memory, i));
      if (!call) continue;
      bound.calls_.push_back(std::move(call));
      bound.steps_.push_back(i);
    }
    return bound;
  }

  Result<void> run() {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (is_cancelled()) return failed(i, run_cancelled().error());
      if (auto done = calls_[i]->run(); !done) return failed(i, std::move(done).error());
    }
    return {};
  }

  [[nodiscard]] bool is_cancelled() const { return collage::is_cancelled(cancel_); }

 private:
  std::unexpected<Error> failed(std::size_t call, Error error) const {
    error = in_step(std::move(error), steps_[call], body_->plan->steps[steps_[call]]);
    error.where = body_->plan->name + ": " + error.where;
    return std::unexpected(std::move(error));
  }

  const LoadedBody* body_ = nullptr;
  const std::stop_token* cancel_ = nullptr;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::size_t> steps_;  ///< of each call
};

/// Bytes that move between a slice and the whole it is part of: `blocks` of `size` bytes, `stride` apart in the whole.
struct SliceCopy {
  std::byte* whole = nullptr;
  std::byte* slice = nullptr;
  std::size_t blocks = 0;
  std::size_t size = 0;
  std::size_t stride = 0;
  std::int64_t count = 0;  ///< slices in the whole
  bool reverse = false;

  [[nodiscard]] std::byte* begin(std::int64_t iteration) const {
    return whole + static_cast<std::size_t>(reverse ? count - 1 - iteration : iteration) * size;
  }
  void read(std::int64_t iteration) const {
    const std::byte* from = begin(iteration);
    for (std::size_t b = 0; b < blocks; ++b) std::memcpy(slice + b * size, from + b * stride, size);
  }
  void write(std::int64_t iteration) const {
    std::byte* to = begin(iteration);
    for (std::size_t b = 0; b < blocks; ++b) std::memcpy(to + b * stride, slice + b * size, size);
  }
};

SliceCopy slice_copy(const PlanValue& whole, const Slicing& slicing, std::byte* whole_data, std::byte* slice_data) {
  const Extents& extents = whole.type.extents();
  SliceCopy copy{.whole = whole_data, .slice = slice_data, .reverse = slicing.reverse};
  copy.count = extents[slicing.axis];
  const auto axis = extents.begin() + slicing.axis;
  copy.size = byte_count(whole.type.element, Extents(axis + 1, extents.end()));
  copy.blocks = static_cast<std::size_t>(element_count(Extents(extents.begin(), axis)));
  copy.stride = copy.size * static_cast<std::size_t>(copy.count);
  return copy;
}

struct PlainCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t bytes = 0;

  void run() const {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
};

bool is_true(const std::byte* flag) { return *flag != std::byte{0}; }

class IfCall final : public Call {
 public:
  IfCall(const std::byte* condition, std::vector<BoundBody> branches)
      : condition_(condition), branches_(std::move(branches)) {}

  /// The bodies stand in the order of their attributes' names: else, then.
  Result<void> run() override { return branches_[is_true(condition_) ? 1 : 0].run(); }

 private:
  const std::byte* condition_;
  std::vector<BoundBody> branches_;
};

/// What a Loop has beside a Scan; all null for a Scan.
struct LoopState {
  const std::byte* trips = nullptr;      ///< i64, null for as many as the condition lets
  const std::byte* condition = nullptr;  ///< null for true
  std::byte* iteration = nullptr;        ///< i64, the body's input
  std::byte* condition_in = nullptr;     ///< the body's input
  const std::byte* condition_out = nullptr;
};

class IterationCall final : public Call {
 public:
  explicit IterationCall(BoundBody body) : body_(std::move(body)) {}

  Result<void> run() override {
    for (const PlainCopy& copy : initial) copy.run();
    const std::int64_t most = trips();
    bool goes_on = loop.condition == nullptr || is_true(loop.condition);
    std::int64_t i = 0;
    for (; i < most && goes_on; ++i) {
      if (i >= room) return wrong_count(i + 1);
      if (body_.is_cancelled()) return run_cancelled();
      COLLAGE_TRY_VOID(iterate(i));
      goes_on = loop.condition_out == nullptr || is_true(loop.condition_out);
    }
    if (!scan_outputs.empty() && i != room) return wrong_count(i);
    return {};
  }

  std::vector<PlainCopy> initial;  ///< operands to carried values
  std::vector<PlainCopy> carry;    ///< what an iteration made to what the next one reads
  std::vector<SliceCopy> scan_inputs;
  std::vector<SliceCopy> scan_outputs;
  LoopState loop;
  std::int64_t room = std::numeric_limits<std::int64_t>::max();  ///< iterations that the stacks have room for

 private:
  [[nodiscard]] std::int64_t trips() const {
    if (loop.iteration == nullptr) return room;
    std::int64_t count = std::numeric_limits<std::int64_t>::max();
    if (loop.trips != nullptr) std::memcpy(&count, loop.trips, sizeof count);
    return count;
  }

  Result<void> iterate(std::int64_t i) {
    if (loop.iteration != nullptr) {
      std::memcpy(loop.iteration, &i, sizeof i);
      *loop.condition_in = std::byte{1};
    }
    for (const SliceCopy& slice : scan_inputs) slice.read(i);
    COLLAGE_TRY_VOID(body_.run());
    for (const PlainCopy& copy : carry) copy.run();
    for (const SliceCopy& slice : scan_outputs) slice.write(i);
    return {};
  }

  [[nodiscard]] std::unexpected<Error> wrong_count(std::int64_t count) const {
    return fail(ExitCode::kBadInput, "runtime/trip-count", "loop", fmt::format("iteration {}", count),
                fmt::format("{} iterations", room));
  }

  BoundBody body_;
};

/// Addresses of one control step.
class Binder {
 public:
  Binder(const LoadedBody& around, const BodyMemory& memory, std::size_t index)
      : around_(around),
        memory_(memory),
        control_(std::get<PlanControl>(around.plan->steps[index].work)),
        form_(control_.form),
        bodies_(around.bodies[index]),
        workspace_(memory.arena + control_.workspace.offset),
        layout_(control_layout(control_)) {}

  Result<std::unique_ptr<Call>> run() {
    std::vector<BoundBody> bound;
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      memories_.push_back(body_memory(b));
      COLLAGE_TRY(BoundBody body, BoundBody::bind(bodies_[b], memories_.back()));
      bound.push_back(std::move(body));
    }
    if (form_.op == ControlOperator::kIf)
      return std::make_unique<IfCall>(outer(form_.operands.front()), std::move(bound));
    auto call = std::make_unique<IterationCall>(std::move(bound.front()));
    fill(*call);
    return call;
  }

 private:
  [[nodiscard]] std::byte* outer(PlanIndex index) const {
    return index == kNoValue ? nullptr : address_of(around_, memory_, index);
  }

  [[nodiscard]] BodyMemory body_memory(std::size_t b) const {
    const auto place = [&](const ControlPort& port) {
      return port.value == kNoValue ? workspace_ + port.offset : outer(port.value);
    };
    BodyMemory memory{.inputs = {}, .outputs = {}, .arena = workspace_};
    memory.pool = memory_.pool;
    memory.cancel = memory_.cancel;
    for (const ControlPort& port : layout_.inputs[b]) memory.inputs.push_back(place(port));
    for (const ControlPort& port : layout_.outputs[b]) memory.outputs.push_back(place(port));
    return memory;
  }

  void fill(IterationCall& call) const {
    const PlanBody& body = control_.bodies.front();
    const BodyMemory& memory = memories_.front();
    const std::size_t first_output = leading_outputs(form_.op);
    const std::size_t first_input = first_output * 2;
    const std::size_t carried = carried_count(form_);
    const std::size_t first_operand = leading_operands(form_.op);
    for (std::size_t k = 0; k < carried; ++k) {
      const std::size_t bytes = body.values[body.inputs[first_input + k]].bytes;
      std::byte* const state = memory.inputs[first_input + k];
      call.initial.push_back({state, outer(form_.operands[first_operand + k]), bytes});
      call.carry.push_back({state, memory.outputs[first_output + k], bytes});
    }
    for (std::size_t k = 0; k < form_.scan_inputs.size(); ++k)
      add_slice(form_.operands[first_operand + carried + k], form_.scan_inputs[k],
                memory.inputs[first_input + carried + k], call.scan_inputs, call.room);
    for (std::size_t k = 0; k < form_.scan_outputs.size(); ++k)
      add_slice(form_.results[carried + k], form_.scan_outputs[k], memory.outputs[first_output + carried + k],
                call.scan_outputs, call.room);
    if (form_.op == ControlOperator::kLoop)
      call.loop = {.trips = outer(form_.operands[0]),
                   .condition = outer(form_.operands[1]),
                   .iteration = memory.inputs[0],
                   .condition_in = memory.inputs[1],
                   .condition_out = memory.outputs[0]};
  }

  /// A stack nobody reads is not written.
  void add_slice(PlanIndex whole, const Slicing& slicing, std::byte* slice, std::vector<SliceCopy>& copies,
                 std::int64_t& room) const {
    if (whole == kNoValue) return;
    copies.push_back(slice_copy(around_.plan->values[whole], slicing, outer(whole), slice));
    room = copies.back().count;
  }

  const LoadedBody& around_;
  const BodyMemory& memory_;
  const PlanControl& control_;
  const ControlForm& form_;
  const std::vector<LoadedBody>& bodies_;
  std::byte* workspace_;
  ControlLayout layout_;
  std::vector<BodyMemory> memories_;
};

}  // namespace

Result<std::unique_ptr<Call>> bind_control(const LoadedBody& around, const BodyMemory& memory, std::size_t step) {
  return Binder(around, memory, step).run();
}

}  // namespace collage
