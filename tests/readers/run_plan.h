// Loads a plan file and runs it, as a program does.
#pragma once

#include <string>

#include "tests/readers/reader.h"

namespace collage::test {

/// The outputs of a run on inputs of small numbers; of a plan of many shapes, at several. `runs` false: kernels are
/// only loaded and bound, because they are machine code that believes what the plan says.
[[nodiscard]] Answer run_plan(const std::string& path, bool runs = true);

}  // namespace collage::test
