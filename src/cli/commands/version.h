// What this program is made of: its version, those of its interfaces, compiler and libraries.
// In: what the build knew. Out: lines for people; `collage version --json` gives the same as JSON.
#pragma once

#include <string>

namespace collage::cli {

/// "collage 0.1.0", then a line each for the interfaces, the compiler and the libraries that this was built with.
[[nodiscard]] std::string version_text();
/// "0.1.0".
[[nodiscard]] std::string version_number();

}  // namespace collage::cli
