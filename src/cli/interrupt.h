// Ctrl-C as a stop token: the first asks the work to stop and keep its best result, the second ends the process.
#pragma once

#include <stop_token>

namespace collage::cli {

/// Installs the handler on first use.
[[nodiscard]] std::stop_token interrupt_token();

}  // namespace collage::cli
