// Whether the operands of an operation have types that the library computes with at once. It believes some of them, and
// then takes bytes for numbers of four.
// In:  a program whose operands exist, an operation of it. Out: yes or no. Cost: a few steps.
#pragma once

#include "program.h"

namespace collage::xnnpack {

[[nodiscard]] bool has_fitting_types(const Program& program, const Op& op);

}  // namespace collage::xnnpack
