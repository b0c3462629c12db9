// The library's attributes of an operation: what is applied to its result, and the scales of integers.
// In:  a program and one of its operations. Out: attributes for the operation's description; scratch is the caller's.
// Throws dnnl::error as the library does, and std::runtime_error for scales that the library would misread.
#pragma once

#include <array>

#include "program.h"

namespace collage::onednn {

/// The arguments that have a scale and a zero point, in the order of Scaling.
inline constexpr std::array kScaledSlots = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};

[[nodiscard]] dnnl::primitive_attr attributes_of(const Program& program, const Op& op);

}  // namespace collage::onednn
