// Converts a kernel set to the JSON in an artifact, and back. Throws std::exception for text that is no kernel set.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kernel_set.h"

namespace collage::native {

[[nodiscard]] nlohmann::json to_json(const KernelSet& set);
/// Throws what the JSON library throws for another form; the numbers are for fault_of() to judge.
[[nodiscard]] KernelSet kernel_set_of(const nlohmann::json& from);

[[nodiscard]] nlohmann::json to_json(const TensorArgument& argument);
/// Throws for an unknown kind or type.
[[nodiscard]] TensorArgument argument_of(const nlohmann::json& from);

}  // namespace collage::native
