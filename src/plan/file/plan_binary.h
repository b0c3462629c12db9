// A plan as bytes inside an exported library: read without parsing JSON, by code of the same build (base/binary.h).
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"

namespace collage {

/// All but the report.
[[nodiscard]] std::string plan_to_binary(const Plan& plan);
/// Not verified: Executable::load() does that. Error plan/damaged for other bytes.
[[nodiscard]] Result<Plan> plan_from_binary(std::string_view bytes);

}  // namespace collage
