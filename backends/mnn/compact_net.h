// Whether a net can be taken apart: in a flatbuffer many parts may be one piece of memory, so a small file can unpack
// to any size. In:  a net that was verified and has operators. Out: whether its parts are short lists of types that
// ours have. Cost: one pass over the operators. Not here: what the operators say (check_net.h).
#pragma once

#include "MNN_generated.h"

namespace collage::mnn {

[[nodiscard]] bool is_compact(const MNN::Net& net);

}  // namespace collage::mnn
