// A plan of one shape, loaded: kernels, constants, memory layout. It is immutable, so threads share it; each thread
// runs it in its own ExecutionContext.
// In:  a realised plan and the backends that it names. Out: contexts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "plan/realised_plan.h"
#include "runtime/execution_context.h"
#include "runtime/load_options.h"

namespace collage {

class MemoryBlock;

/// Compares a plan with what is here without loading any kernel: backends present, their builds, what they say of the
/// kernels' compatibility strings, the machine print.
[[nodiscard]] MachineVerdict judge_machine(const Plan& plan, const BackendSource& backends, const std::string& machine);

/// What an execution context is made with beside the executable.
struct ExecutionOptions {
  /// The extents of every input, for a plan whose inputs are open; empty else.
  std::vector<Extents> inputs;
  /// The arena at home, at least as large as the plan's, which contexts may share that never run at the same time; null
  /// for one of its own.
  std::shared_ptr<const MemoryBlock> arena;
  /// The caller's threads for the loops of kernels; without parallel_for: those of the libraries behind them.
  PoolFunctions pool;
  /// The caller's memory for every port, 64-byte aligned, TensorPort::bytes each, in place of the context's own; it
  /// outlives the context. Empty: none.
  std::vector<std::byte*> input_memory;
  std::vector<std::byte*> output_memory;
};

class Executable {
 public:
  /// The executable shares the plan's bytes. Backends from `backends` outlive it and its contexts.
  /// Errors: plan/damaged; plan/missing-backend when a backend is missing, plan/missing-device when its device is;
  /// backend/* when it refuses an artifact.
  [[nodiscard]] static Result<Executable> load(RealisedPlan plan, const BackendSource& backends,
                                               const LoadOptions& options);

  [[nodiscard]] const Plan& plan() const;
  [[nodiscard]] const MachineVerdict& verdict() const;
  [[nodiscard]] const std::vector<TensorPort>& inputs() const;
  [[nodiscard]] const std::vector<TensorPort>& outputs() const;

  /// Whether some input's extents are known only to a context (plan/plan.h: a plan of one engine).
  [[nodiscard]] bool is_open() const;

  /// Thread-safe. Errors: runtime/out-of-memory; runtime/open-shape when inputs are open and no extents are given, or
  /// they do not fit; session/pool-not-supported; those of Kernel::bind.
  [[nodiscard]] Result<ExecutionContext> make_context(const ExecutionOptions& options = {}) const;

  struct State;

 private:
  explicit Executable(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace collage
