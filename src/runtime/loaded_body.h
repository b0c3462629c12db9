// The steps of a model or body with their loaded kernels, and how they are bound to addresses; internal to src/runtime.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/device_place.h"
#include "backend/held_value.h"
#include "backend/registry.h"
#include "plan/realised_plan.h"

namespace collage {

/// Which step and output port makes a value of open shape (Storage::kDynamic).
using OpenValues = std::map<PlanIndex, std::pair<std::size_t, std::uint32_t>>;

struct LoadedBody {
  const PlanBody* plan = nullptr;
  std::map<PlanIndex, Tensor> constants;        ///< of this body's kConstant values
  OpenValues open_values;                       ///< those that a step makes
  std::vector<const Kernel*> kernels;           ///< by step; null for views and control steps
  std::vector<std::vector<LoadedBody>> bodies;  ///< by step; empty but for control steps
};

struct OpenSource;

/// What a model input of a held type is now. A step takes it again when the version has changed.
struct HeldInput {
  std::shared_ptr<const HeldValue> value;
  std::uint64_t version = 0;  ///< 0: nothing was put in yet
};

/// Where a context has the ports and the arena of a body. Ports are 64-byte aligned.
struct BodyMemory {
  std::vector<std::byte*> inputs;
  std::vector<std::byte*> outputs;
  std::byte* arena = nullptr;
  const DevicePlaces* devices = nullptr;                      ///< null inside bodies, which lie at home
  const std::vector<Extents>* input_extents = nullptr;        ///< by input of a plan whose inputs are open; null else
  ThreadPool* pool = nullptr;                                 ///< of the caller; null: none
  const std::stop_token* cancel = nullptr;                    ///< of the run under way; null: never
  const std::vector<std::unique_ptr<Call>>* calls = nullptr;  ///< by step: what makes values of open shape
  const std::vector<OpenSource>* open_inputs = nullptr;       ///< by input of a body; null for a model
  const std::vector<HeldInput>* held_inputs = nullptr;        ///< by input of the model; null inside bodies
};

/// Loads what has not been loaded for an equal step: one for an executable.
class KernelLoader {
 public:
  KernelLoader(const RealisedPlan& realised, const BackendSource& backends, int threads)
      : realised_(realised), backends_(backends), threads_(threads) {}

  /// The model, or a body inside it with the constants around it. Errors backend/*; where = the step.
  [[nodiscard]] Result<LoadedBody> load_model();
  [[nodiscard]] std::vector<std::unique_ptr<Kernel>> take_kernels() { return std::move(kernels_); }

 private:
  /// Two steps share a kernel when this is equal: the names of ports do not change what a loaded artifact computes.
  struct KernelKey {
    std::string backend;
    std::string artifact;
    std::string entry;
    std::vector<const void*> constants;
    std::string ports;
    auto operator<=>(const KernelKey&) const = default;
  };

  [[nodiscard]] Result<LoadedBody> load(const PlanBody& plan, std::map<PlanIndex, Tensor> constants,
                                        const std::string& where);
  [[nodiscard]] Result<const Kernel*> kernel(const LoadedBody& body, const PlanStep& step);

  const RealisedPlan& realised_;
  const BackendSource& backends_;
  int threads_;
  std::map<KernelKey, const Kernel*> known_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

/// Where a value lies; null for an output of unknown shape.
[[nodiscard]] std::byte* address_of(const LoadedBody& body, const BodyMemory& memory, PlanIndex index);

/// The kernel of a step that reads a value of open shape. Error backend/fixed-shapes when it takes none.
[[nodiscard]] Result<const OpenKernel*> open_kernel_of(const LoadedBody& body, std::size_t step);

/// The extents of a value that is there before the run: those of the plan, or of an open input.
[[nodiscard]] Extents extents_of(const BodyMemory& memory, const PlanValue& value);

/// Makes one step ready for these addresses; null for a view, which does nothing. Errors of Kernel::bind.
[[nodiscard]] Result<std::unique_ptr<Call>> bind_step(const LoadedBody& body, const BodyMemory& memory,
                                                      std::size_t step);

/// An error of a call as one of its step.
[[nodiscard]] Error in_step(Error error, std::size_t index, const PlanStep& step);

}  // namespace collage
