// The steps of one body, bound to addresses; internal to src/runtime.
// In:  a loaded body, where its ports lie. Out: runs of its steps in order, and where its outputs are afterwards.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/loaded_body.h"
#include "runtime/open_step.h"

namespace collage {

class BoundBody {
 public:
  /// `open_inputs` has one source for each input, empty ones for inputs that lie in a buffer. Errors of Kernel::bind.
  [[nodiscard]] static Result<std::unique_ptr<BoundBody>> bind(const LoadedBody& body, BodyMemory memory,
                                                               std::vector<OpenSource> open_inputs);
  BoundBody(const BoundBody&) = delete;  // calls refer to it
  BoundBody& operator=(const BoundBody&) = delete;

  /// Errors of the steps, with their place; session/cancelled, asked before each step.
  [[nodiscard]] Result<void> run();
  [[nodiscard]] bool is_cancelled() const;

  [[nodiscard]] const BodyMemory& memory() const { return memory_; }
  /// Output `i` after a run.
  [[nodiscard]] OpenSource output(std::size_t i);

 private:
  BoundBody(const LoadedBody& body, BodyMemory memory, std::vector<OpenSource> open_inputs);
  [[nodiscard]] std::unexpected<Error> failed(std::size_t step, Error error) const;

  const LoadedBody& body_;
  BodyMemory memory_;
  std::vector<OpenSource> open_inputs_;
  std::vector<std::unique_ptr<Call>> calls_;  ///< by step; null for views
  std::vector<std::size_t> steps_;            ///< those with a call
  std::deque<DynamicOutput> known_;           ///< outputs that lie in a buffer
};

}  // namespace collage
