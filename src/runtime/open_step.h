// A step that reads values whose extents are known only after an earlier step has run, or held values (strings,
// sequences, optionals, maps); internal to src/runtime.
// In:  the step's kernel, the calls of the steps that make these values.
// Out: a call that binds the kernel during the run, and again only when the kernel cannot move to other inputs.
//      A held value is taken anew in every run, a model's input once each time that it is set.
// Cost: for each run small vectors of extents, and what the library spends on other extents. Memory of such values
//       belongs to the calls that make them; inputs that a library left at an unaligned address are copied.
#pragma once

#include <deque>
#include <memory>

#include "runtime/loaded_body.h"

namespace collage {

/// Where a value of open shape or a held value comes from.
struct OpenSource {
  const std::vector<std::unique_ptr<Call>>* calls = nullptr;  ///< by step
  std::size_t step = 0;
  std::uint32_t port = 0;
  const HeldInput* input = nullptr;      ///< of the model, in place of the step
  const DynamicOutput* given = nullptr;  ///< by a control step, or known since it was bound; in place of the step

  /// After its step has run. Errors of Call::dynamic_output, input/missing.
  [[nodiscard]] Result<DynamicOutput> read() const;
};

/// Precondition: is_given_in_run(value).
[[nodiscard]] OpenSource source_of(const LoadedBody& body, const BodyMemory& memory, PlanIndex value);

/// For any tensor; where it lies in a buffer of the plan, `known` keeps what the source refers to.
[[nodiscard]] OpenSource tensor_source(const LoadedBody& body, const BodyMemory& memory, PlanIndex value,
                                       std::deque<DynamicOutput>& known);

/// The step's buffers have null for inputs of open shape. Error backend/fixed-shapes when its kernel is no OpenKernel.
[[nodiscard]] Result<std::unique_ptr<Call>> open_step_call(const LoadedBody& body, const BodyMemory& memory,
                                                           std::size_t step, Buffers buffers);

}  // namespace collage
