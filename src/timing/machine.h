// What the machine is, as far as times measured on it depend on it.
#pragma once

#include <string>

namespace collage {

/// One line: CPU model, hash of its feature flags, cores this process may use, memory in GiB, instruction set. Costs
/// measured under one print are never used under another. Constant while the process's affinity is.
[[nodiscard]] std::string machine_print();

}  // namespace collage
