// Runs pieces of work in a child process: a library that crashes or hangs there spoils one outcome, not the test.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "tests/conformance/case.h"

namespace collage::conformance {

/// Outcomes of work(0) .. work(count - 1), run in order in a forked child. Work that kills the child or gives no
/// outcome within `patience` has failed; a new child goes on with the next one. Only the child sees what work changes.
/// The calling process must have one thread.
[[nodiscard]] std::vector<Outcome> run_isolated(std::size_t count, const std::function<Outcome(std::size_t)>& work,
                                                std::chrono::milliseconds patience);

}  // namespace collage::conformance
