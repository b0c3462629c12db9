// Runs a function in a forked copy of this process.
// In:  a function that returns bytes. Out: its bytes, or how the copy ended.
// Why: Halide numbers the names that it creates with counters of the process, and these names determine the order of
// instructions. In a copy of a process that has not created any, the same tensor code gives the same machine code.
// Memory that LLVM keeps, and state that it damages, ends with the copy.
// Cost: about a millisecond (fork(2) and a pipe).
#pragma once

#include <expected>
#include <functional>
#include <string>

namespace collage::native {

/// `work` does not throw, gives one byte at least, and neither starts threads nor waits for those of this process.
[[nodiscard]] std::expected<std::string, std::string> in_child(const std::function<std::string()>& work);

}  // namespace collage::native
