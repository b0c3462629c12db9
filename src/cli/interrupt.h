// Turns Ctrl-C into a stop token: the first one asks the command to stop and keep its best result, the second one ends
// the process.
#pragma once

#include <stop_token>

namespace collage::cli {

/// Installs the handler on first use.
[[nodiscard]] std::stop_token interrupt_token();

}  // namespace collage::cli
