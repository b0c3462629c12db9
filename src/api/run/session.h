// A session runs a LoadedPlan for one caller: it owns the memory of inputs, outputs and intermediate values, and every
// kernel bound to its addresses. A run is then a loop over bound calls: it allocates nothing, takes no lock and looks
// nothing up.
// In:  the bytes of the inputs, row-major. Out: the bytes of the outputs, row-major.
// Threads: one thread at a time. Different sessions of one plan may run at the same time. A session keeps its plan
//       alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "backend/backend.h"
#include "backend/thread_pool.h"
#include "base/clock.h"
#include "ir/tensor.h"
#include "runtime/tensor_port.h"

namespace collage {

struct Plan;

struct SessionOptions {
  /// The caller's threads, on which the loops of kernels run; without parallel_for they run on threads of OpenMP and of
  /// the libraries behind them. A plan for one thread needs none.
  PoolFunctions pool;
};

/// When a run ends before it is done. It is asked before each step, each iteration of a Loop or Scan, and inside of
/// ONNX Runtime and OpenVINO; a kernel that computes is not interrupted.
struct RunOptions {
  std::stop_token cancel;                     ///< ends the run when it is requested, from any thread
  std::optional<Clock::time_point> deadline;  ///< ends the run at this time; watched by a thread of the session
};

class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// The inputs and outputs with the extents they have now. Positions are those of LoadedPlan::inputs() and outputs().
  [[nodiscard]] const std::vector<TensorPort>& inputs() const;
  [[nodiscard]] const std::vector<TensorPort>& outputs() const;

  /// Sets the extents of all inputs, for a plan with open ones. The first call with a shape loads kernels and
  /// allocates; a shape that was set before is found again without allocation (of the shapes that no case of the plan
  /// serves, the last 64). Each shape has its own contents of inputs and outputs.
  /// Errors: input/wrong-count, input/wrong-shape, shape/outside, shape/no-case (bad input), those of make_session().
  [[nodiscard]] Result<void> set_shapes(std::span<const Extents> inputs);

  /// The bytes of input `i`, 64-byte aligned, to be written before run(). Empty while the caller's memory is bound, and
  /// for inputs that are no tensors of numbers (set_value()).
  [[nodiscard]] std::span<std::byte> input(std::size_t i);
  /// The bytes of output `i` after run(), valid until the next run. Empty for an output of unknown shape.
  [[nodiscard]] std::span<const std::byte> output(std::size_t i) const;
  /// Type, extents and bytes of output `i` after run(), whatever its shape, or the held value; valid until the next
  /// run.
  [[nodiscard]] Result<DynamicOutput> output_tensor(std::size_t i) const;

  /// Makes input `i` read from, or output `i` write to, the caller's memory from now on, at the current shape. The
  /// memory is 64-byte aligned, TensorPort::bytes long and valid during run(); that of an output overlaps no other
  /// port's. Null returns to the session's own memory. May allocate. Errors: runtime/unaligned, runtime/no-port
  /// (usage), backend/*.
  [[nodiscard]] Result<void> bind_input(std::size_t i, const void* data);
  [[nodiscard]] Result<void> bind_output(std::size_t i, void* data);

  /// Copies these values into the inputs, and sets the shapes if inputs are open.
  /// Errors: input/wrong-count, input/wrong-shape, input/bound, those of set_shapes() and set_value().
  [[nodiscard]] Result<void> set_inputs(std::span<const Tensor> inputs);
  /// Puts a value into input `i`; strings, sequences, optionals and maps have no other way in. It stays until the next
  /// call. Errors: those of check_value() (ir/check_value.h), input/wrong-shape, input/bound.
  [[nodiscard]] Result<void> set_value(std::size_t i, const Tensor& value);
  /// A copy of output `i` of the last run, whatever its type.
  [[nodiscard]] Result<Tensor> value(std::size_t i) const;
  /// Copies of all outputs of the last run.
  [[nodiscard]] Result<std::vector<Tensor>> copy_outputs() const;

  /// Runs all steps, in the default floating-point mode whatever that of the calling thread is. Stops at the first
  /// error, whose `where` names the step; the outputs are then unspecified.
  /// Errors: session/no-shape (usage) when inputs are open and no shape is set; backend/*; session/pool-failed (usage)
  /// when the pool threw or did not call every task; runtime/bad-operand for
  /// values that the model does not allow (an index out of range, a division by 0); runtime/overlap (usage) when the
  /// memory of an output is that of another port, too.
  [[nodiscard]] Result<void> run();
  /// The same, with an early end, which takes a lock that nobody holds for long. The session can run again afterwards.
  /// A run that was about to be done when its end was requested may succeed. The first run with a deadline starts a
  /// thread. Errors: session/cancelled (interrupted), session/deadline (limit).
  [[nodiscard]] Result<void> run(const RunOptions& options);
  /// As run(); writes the nanoseconds of each step of plan() to `times_ns`, which has one for each. Views take 0.
  /// `after_step` is called on the calling thread with the index of each step that has run; its own time belongs to no
  /// step.
  [[nodiscard]] Result<void> run_profiled(std::span<std::int64_t> times_ns,
                                          const std::function<void(std::size_t)>& after_step = {});
  /// The median nanoseconds of each step over `runs` runs. `cancel` is asked between them: session/cancelled.
  [[nodiscard]] Result<std::vector<std::int64_t>> profile(int runs, const std::stop_token& cancel = {});

  /// The plan that serves the shape set now; plan/plan.h. A plan with open inputs has one once a shape is set.
  [[nodiscard]] const Plan& plan() const;

 private:
  friend class LoadedPlan;
  struct State;
  explicit Session(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace collage
