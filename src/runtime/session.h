// Runs a plan. A Session is a loaded plan: kernels, constants, memory map; immutable, so threads share it. A Context is
// one thread's place to run it: arena, input and output buffers, every kernel bound to its addresses. After
// Context creation a run is a loop over bound calls: no allocation, lock or look-up of ours.
// In: a plan file or a realised plan, and the backends it names. Out: results in the outputs' buffers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "plan/realise.h"

namespace collage {

/// How a session gets at a backend by its instance name; Registry::get wrapped, or test doubles.
using BackendSource = std::function<Result<Backend*>(const std::string& instance)>;

/// Whether a plan fits the backends and the machine at hand.
struct MachineVerdict {
  enum class Kind : std::uint8_t {
    kSame,    ///< as tuned
    kUsable,  ///< right results, but times may differ; reasons say where
    kRefused  ///< cannot run; reasons say why
  };
  Kind kind = Kind::kSame;
  std::vector<std::string> reasons;
};

struct LoadOptions {
  int threads = 0;      ///< budget for each kernel; 0 = the plan's
  std::string machine;  ///< this machine's print, compared with the plan's; empty = not compared
};

/// Compares a plan with what is here without loading any kernel: backends present, their builds, what they say of the
/// kernels' compatibility strings, the machine print.
[[nodiscard]] MachineVerdict judge_machine(const Plan& plan, const BackendSource& backends, const std::string& machine);

/// What a model input or output is, and where its bytes are.
struct ContextPort {
  std::string name;
  ValueType type;
  std::size_t bytes = 0;  ///< 0 for an output of unknown shape
};

class Context;
class MemoryBlock;

/// What a context is made with beside the session.
struct ContextOptions {
  /// The extents of every input, for a plan whose inputs are open; empty else.
  std::vector<Extents> inputs;
  /// The arena at home, at least as large as the plan's, which contexts may share that never run at the same time; null
  /// for one of its own.
  std::shared_ptr<const MemoryBlock> arena;
};

class Session {
 public:
  /// Loads a plan file. Errors: those of load_plan; plan/missing-backend when a backend is not here,
  /// plan/missing-device when its device is not; backend/* when it
  /// refuses an artifact. The registry must outlive the session and its contexts.
  [[nodiscard]] static Result<Session> load(const std::string& path, Registry& registry, const LoadOptions& options);
  /// Loads a plan in memory, which the session shares. Backends from `backends` must outlive the session.
  [[nodiscard]] static Result<Session> load(RealisedPlan plan, const BackendSource& backends,
                                            const LoadOptions& options);

  [[nodiscard]] const Plan& plan() const;
  [[nodiscard]] const MachineVerdict& verdict() const;
  [[nodiscard]] const std::vector<ContextPort>& inputs() const;
  [[nodiscard]] const std::vector<ContextPort>& outputs() const;
  /// Distinct kernels loaded; steps with equal artifacts, constants and ports share one.
  [[nodiscard]] std::size_t kernel_count() const;

  /// Whether some input's extents are known only to a context (plan/plan.h: a plan of one engine).
  [[nodiscard]] bool is_open() const;

  /// Thread-safe. Errors: runtime/out-of-memory; runtime/open-shape when inputs are open and no extents are given, or
  /// they do not fit; those of Kernel::bind.
  [[nodiscard]] Result<Context> make_context(const ContextOptions& options = {}) const;

  struct State;

 private:
  explicit Session(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

/// One thread at a time. Keeps its session's state alive.
class Context {
 public:
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;
  ~Context();

  /// The inputs with the extents they have here.
  [[nodiscard]] const std::vector<ContextPort>& inputs() const;

  /// The bytes of input `i`, to be written before run(). Empty when the caller bound its own buffer.
  [[nodiscard]] std::span<std::byte> input(std::size_t i);
  /// The bytes of output `i` after run(), also of a bound buffer. Empty for an output of unknown shape.
  [[nodiscard]] std::span<const std::byte> output(std::size_t i) const;
  /// Type, extents and bytes of output `i` after run(), whatever its shape; valid until the next run.
  [[nodiscard]] Result<DynamicOutput> output_tensor(std::size_t i) const;

  /// Reads input `i` from, or writes output `i` to, the caller's memory from now on: 64-byte aligned, as large as
  /// ContextPort::bytes, alive during run(), overlapping no other port's. Null goes back to the context's own buffer.
  /// Rebinds the calls that touch it, so it may allocate. Errors: runtime/unaligned, runtime/no-port, Kernel::bind's.
  [[nodiscard]] Result<void> bind_input(std::size_t i, const void* data);
  [[nodiscard]] Result<void> bind_output(std::size_t i, void* data);

  /// Runs all steps. The first error stops; where = the step, for a device the one that waited. Outputs are then
  /// unspecified.
  [[nodiscard]] Result<void> run();
  /// Like run(), and writes the nanoseconds of each of plan().steps (views: 0) to `times_ns`, which has one each.
  /// Waits for devices after each step.
  [[nodiscard]] Result<void> run_profiled(std::span<std::int64_t> times_ns);

 private:
  friend class Session;
  struct State;
  explicit Context(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace collage
