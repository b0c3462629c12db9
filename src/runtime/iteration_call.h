// A Loop or Scan as iterations of its bound body; internal to src/runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "runtime/bound_body.h"
#include "runtime/grown_value.h"
#include "runtime/slices.h"

namespace collage {

[[nodiscard]] inline bool is_true(const std::byte* flag) { return *flag != std::byte{0}; }

struct PlainCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t bytes = 0;

  void run() const {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
};

/// What a Loop has beside a Scan; all null for a Scan.
struct LoopState {
  const std::byte* trips = nullptr;      ///< i64, null for as many as the condition lets
  const std::byte* condition = nullptr;  ///< null for true
  std::byte* iteration = nullptr;        ///< i64, the body's input
  std::byte* condition_in = nullptr;     ///< the body's input
  const std::byte* condition_out = nullptr;
};

/// A carried value whose extents may change from one iteration to the next.
struct OpenCarried {
  OpenSource initial;  ///< the operand
  OpenSource next;     ///< what an iteration makes
  GrownValue state;    ///< what the next one reads
};

/// A result that grows by a slice with each iteration.
struct OpenStack {
  OpenSource slice;
  GrownStack stack;
};

/// What is done before, in and after each iteration.
struct IterationParts {
  std::unique_ptr<BoundBody> body;
  std::vector<PlainCopy> initial;  ///< operands to carried values
  std::vector<PlainCopy> carry;    ///< what an iteration made to what the next one reads
  std::vector<SliceCopy> scan_inputs;
  std::vector<SliceCopy> scan_outputs;
  /// Iterations that the stacks have room for.
  std::int64_t room = std::numeric_limits<std::int64_t>::max();
  LoopState loop;
  // Those whose extents are known only during a run. Calls refer to them, so they stay where they are.
  std::deque<DynamicOutput> known;  ///< operands of open carried values that lie in buffers
  std::deque<OpenCarried> open_carried;
  std::deque<OpenSlices> open_slices;
  std::deque<OpenStack> open_stacks;
  std::map<std::size_t, const OpenCarried*> open_states;  ///< by port of the step
  std::map<std::size_t, const OpenStack*> open_results;   ///< by port of the step
};

class IterationCall final : public Call {
 public:
  /// Errors as of bind_control.
  Result<void> run() override;
  Result<DynamicOutput> dynamic_output(std::size_t port) override;

  IterationParts parts;

 private:
  [[nodiscard]] Result<std::int64_t> begin();
  [[nodiscard]] Result<void> iterate(std::int64_t i);
  [[nodiscard]] Result<void> copy_open_values();

  bool has_run_ = false;
};

}  // namespace collage
