// The kernels of the test backend: a list of simple f32 operators, interpreted, and the ways in which they can go
// wrong.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "chaos.h"

namespace collage::test {

/// Where an operand lies: "i0" the first input, "c1" the second constant, "o0" the first output, "t5" the sixth scratch
/// tensor of the program.
struct Operation {
  std::string op;
  std::vector<std::string> operands;
  std::string result;
  std::size_t count = 0;  ///< elements of the result
};

struct Program {
  std::vector<Operation> operations;
  std::vector<std::size_t> scratch_counts;  ///< elements of "t0", "t1"...
  std::int64_t wait_us = 0;                 ///< a run takes so much longer
  float factor = 1;                         ///< the first output is multiplied by it
};

/// What happens at the stage: everything of chaos.h that is not about numbers and answers, and besides
///   support-throw (propose-throw)
///   any stage: throw-int kill close (every descriptor it may find)
///   run-bf16 run-f16 (the output's elements rounded to 16 bits)
///   load-fail run-fail run-wrong run-nothing run-overrun run-underrun run-change-input
///   run-late-wrong (right at first, wrong from the third run) run-late-crash
///   unload-crash
/// A fault that hangs first makes a file named by its process id in the folder COLLAGE_TEST_ANNOUNCE, when that is set.
void misbehave(const Fault& fault, std::string_view stage);

/// False while COLLAGE_TEST_ARMED names a file that is not there: faults wait for it (not all kinds of wrong numbers).
[[nodiscard]] bool is_armed();

void busy_wait(std::int64_t microseconds);

[[nodiscard]] std::string to_bytes(const Program& program);
[[nodiscard]] std::unique_ptr<Kernel> make_kernel(const LoadRequest& request, const Fault& fault,
                                                  std::int64_t delay_us);

}  // namespace collage::test
