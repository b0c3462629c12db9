// Maps a file that is open already, so that what was learned of it holds for the bytes that are read.
#pragma once

#include <string>

#include "base/buffer.h"

namespace collage {

/// The whole regular file mapped read-only; the descriptor stays open and may be closed afterwards. `path` names it in
/// errors. Error io/cannot-read.
[[nodiscard]] Result<Buffer> map_descriptor(int descriptor, const std::string& path);

}  // namespace collage
