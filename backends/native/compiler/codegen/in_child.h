// Runs one piece of work in a copy of this process.
// In: work that gives bytes. Out: its bytes, or how the copy ended.
// How: fork(2) and a pipe. Halide numbers the names it makes with counters of the process, and the names decide
//      the order of instructions: in a copy of a process that never made any, the same tensor code becomes the same
//      machine code. What LLVM keeps, and what it breaks, ends with the copy.
// Cost: about a millisecond.
#pragma once

#include <expected>
#include <functional>
#include <string>

namespace collage::native {

/// `work` does not throw, gives one byte at least, and neither starts threads nor waits for those of this process.
[[nodiscard]] std::expected<std::string, std::string> in_child(const std::function<std::string()>& work);

}  // namespace collage::native
