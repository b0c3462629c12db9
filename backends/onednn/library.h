// Version and properties of the oneDNN library in this process.
#pragma once

#include <string>

namespace collage::onednn {

/// "2.6.3".
[[nodiscard]] std::string library_version();
/// Version, commit when known, the linker's build id of the loaded file, threading runtime, instruction set in use.
[[nodiscard]] std::string library_build();

}  // namespace collage::onednn
