// Whether a net is one that lower.h makes: the library believes what a net says, and nets come with plan files, which
// others may have made.
// In:  a net without the contents of constants, the numbers of its ports. Out: nothing; throws std::runtime_error that
// says what is wrong.
// How: the extents and orders of all tensors are computed as the library does, operator by operator.
// Cost: one pass over the operators. Not here: whether constants fit (artifact.h) and ports (kernel.h).
// Source: MNN 3.3.0, the shape functions of its operators.
#pragma once

#include "MNN_generated.h"

namespace collage::mnn {

/// Ports of a kernel.
struct PortCounts {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};

void check_net(const MNN::NetT& net, PortCounts ports);

}  // namespace collage::mnn
