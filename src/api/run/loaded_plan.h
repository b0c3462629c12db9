// A plan that is loaded and ready to run. It is loaded once and shared by all threads that run it.
// In:  a plan file, as `collage tune` writes it, and the backends that its steps name.
// Out: descriptions of the model's inputs and outputs, and a Session (api/run/session.h) for each caller.
//
//     COLLAGE_TRY(const LoadedPlan plan, LoadedPlan::load("model.collage"));
//     COLLAGE_TRY(Session session, plan.make_session());
//     std::memcpy(session.input(0).data(), image.data(), session.input(0).size());
//     COLLAGE_TRY_VOID(session.run());
//     const std::span<const std::byte> scores = session.output(0);
//
// Threads: a LoadedPlan is immutable; every function may be called from any thread. A session is used by one thread at
//       a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/run/session.h"
#include "backend/registry.h"
#include "base/buffer.h"
#include "ir/shape_domain.h"
#include "runtime/load_options.h"

namespace collage {

struct PlanCases;

class LoadedPlan {
 public:
  /// Maps and checks a plan file and loads its kernels with the backends of default_module_folders(). A plan of many
  /// shapes loads the kernels of a shape when a session first needs them. The file may be replaced by renaming another
  /// one, and removed; one that is rewritten or shortened where it is needs LoadOptions::copy_file.
  /// Errors: io/cannot-read, zip/damaged, plan/damaged, plan/is-a-model, plan/wrong-version; plan/missing-backend and
  /// plan/missing-device for what the plan needs and this machine does not have; plan/other-threads; backend/* when a
  /// backend refuses a kernel; signature/* with LoadOptions::signers (plan/signature/plan_signature.h).
  [[nodiscard]] static Result<LoadedPlan> load(const std::string& path, const LoadOptions& options = {});
  /// The same with the caller's backends. The registry outlives the plan and its sessions, and is not used by others
  /// while kernels are loaded: it has no lock of its own.
  [[nodiscard]] static Result<LoadedPlan> load(const std::string& path, Registry& registry,
                                               const LoadOptions& options = {});
  /// The same for a plan file whose bytes lie in memory. They are used where they are and kept alive while the plan and
  /// its sessions are; at an address that is no multiple of 64 they are copied once.
  [[nodiscard]] static Result<LoadedPlan> load(Buffer file, const LoadOptions& options = {});
  /// A plan in memory. The backends that `backends` gives outlive the plan and its sessions.
  [[nodiscard]] static Result<LoadedPlan> load(PlanCases cases, BackendSource backends,
                                               const LoadOptions& options = {});
  [[nodiscard]] static Result<LoadedPlan> load(PlanCases cases, Registry& registry, const LoadOptions& options = {});

  /// In the model's order. Extents that a session chooses are symbols of domain(); bytes are then 0.
  [[nodiscard]] const std::vector<TensorPort>& inputs() const;
  /// In the model's order. Extents that are not the same for all shapes, or known after a run only, are open.
  [[nodiscard]] const std::vector<TensorPort>& outputs() const;
  /// Position of an input or output by name. Error input/unknown-name or output/unknown-name (usage).
  [[nodiscard]] Result<std::size_t> input_index(std::string_view name) const;
  [[nodiscard]] Result<std::size_t> output_index(std::string_view name) const;

  /// The shapes that the plan serves; without dimensions all shapes are fixed.
  [[nodiscard]] const ShapeDomain& domain() const;
  /// Whether a session needs Session::set_shapes() before it runs.
  [[nodiscard]] bool has_open_inputs() const;
  /// At most this many threads compute at once in a session, the caller's included.
  [[nodiscard]] int threads() const;
  /// Whether machine and backends are those that the plan was tuned with; a refused plan does not load,
  /// or one of many shapes does not load its kernels.
  [[nodiscard]] const MachineVerdict& verdict() const;

  /// Allocates what runs need and binds the kernels; for a plan with open inputs set_shapes() does.
  /// Errors: runtime/out-of-memory, backend/*; session/pool-not-supported when the plan is for several threads and some
  /// backend of its steps takes no pool.
  [[nodiscard]] Result<Session> make_session(const SessionOptions& options = {}) const;

  /// The contents of the file; plan/plan_cases.h.
  [[nodiscard]] const PlanCases& cases() const;

  struct State;

 private:
  /// With the backends of default_module_folders(), which the plan then owns.
  [[nodiscard]] static Result<LoadedPlan> load_with_own_backends(PlanCases cases, const LoadOptions& options);

  explicit LoadedPlan(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace collage
