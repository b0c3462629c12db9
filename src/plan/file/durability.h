// Whether a file that was written is still there after a power cut.
#pragma once

namespace collage {

/// kPassing: of a file that nobody needs after this process; it reaches the disk when the system finds time.
enum class Durability : unsigned char { kSynced, kPassing };

}  // namespace collage
