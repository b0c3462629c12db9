// Whether one operation of a program that was read from an artifact fits the tensors that it reads and writes. The
// library compares some of these itself; here is what it takes on trust, or compares in 32 bits.
// In:  a program whose tensors fit themselves (check_program.h), one of its operations. Out: what does not fit.
#pragma once

#include <optional>
#include <string>

#include "program.h"

namespace collage::onednn {

/// What does not fit; nothing when all does.
[[nodiscard]] std::optional<std::string> misfit_of(const Program& program, const Op& op);

}  // namespace collage::onednn
