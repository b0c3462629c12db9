// The per-thread state for running an executable: arena, input and output buffers, and every kernel bound to its
// addresses. A run is then a loop over bound calls: it allocates nothing, takes no lock and looks nothing up.
// In:  the bytes of the inputs. Out: the bytes of the outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "backend/backend.h"
#include "runtime/tensor_port.h"

namespace collage {

/// One thread at a time. Keeps what it needs of its executable alive.
class ExecutionContext {
 public:
  ExecutionContext(ExecutionContext&&) noexcept;
  ExecutionContext& operator=(ExecutionContext&&) noexcept;
  ~ExecutionContext();

  /// The inputs with the extents they have here.
  [[nodiscard]] const std::vector<TensorPort>& inputs() const;
  [[nodiscard]] const std::vector<TensorPort>& outputs() const;

  /// The bytes of input `i`, to be written before run(). Empty when the caller bound its own buffer.
  [[nodiscard]] std::span<std::byte> input(std::size_t i);
  /// The bytes of output `i` after run(), also of a bound buffer. Empty for an output of unknown shape.
  [[nodiscard]] std::span<const std::byte> output(std::size_t i) const;
  /// Type, extents and bytes of output `i` after run(), whatever its shape, or the held value; valid until the next
  /// run.
  [[nodiscard]] Result<DynamicOutput> output_tensor(std::size_t i) const;

  /// Puts strings, a sequence, an optional or a map into input `i`, whose type the value has, until the next call.
  /// Error runtime/no-port for an input of another kind.
  [[nodiscard]] Result<void> set_held_input(std::size_t i, std::shared_ptr<const HeldValue> value);

  /// Makes input `i` read from, or output `i` write to, the caller's memory from now on. The memory is 64-byte aligned,
  /// TensorPort::bytes long and valid during run(); that of an output overlaps no other port's. Null returns to the
  /// context's own buffer. Binds the affected calls again, so it may allocate. Errors: runtime/unaligned,
  /// runtime/no-port, those of Kernel::bind.
  [[nodiscard]] Result<void> bind_input(std::size_t i, const void* data);
  [[nodiscard]] Result<void> bind_output(std::size_t i, void* data);

  /// Runs all steps in the default floating-point mode. The first error stops; where = the step, for a device the one
  /// that waited. Outputs are then unspecified. Errors: session/pool-failed; runtime/overlap when bound memory is
  /// written and used otherwise; session/cancelled when `cancel` was requested before a step or inside an engine.
  [[nodiscard]] Result<void> run(const std::stop_token& cancel = {});
  /// Runs the steps from `step` on, over what the values made before hold now.
  [[nodiscard]] Result<void> run_from(std::size_t step);
  /// Like run(), and writes the nanoseconds of each step of the plan (views: 0) to `times_ns`, which has one each.
  /// Waits for devices after each step. Errors as of run(). `after_step` is called with the plan's index of each step
  /// that has run; its own time belongs to no step.
  [[nodiscard]] Result<void> run_profiled(std::span<std::int64_t> times_ns,
                                          const std::function<void(std::size_t)>& after_step = {});

 private:
  friend class Executable;
  struct State;
  explicit ExecutionContext(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace collage
