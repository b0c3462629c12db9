// Identifies the machine by the properties on which measured times depend.
#pragma once

#include <string>

namespace collage {

/// One line: CPU model, hash of its feature flags, cores this process may use, memory in GiB, instruction set. Costs
/// measured with one print are never used with another. Constant as long as the process's affinity is.
[[nodiscard]] std::string machine_print();

}  // namespace collage
