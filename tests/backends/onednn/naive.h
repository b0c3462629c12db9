// Plain loops in double for the operators that the oneDNN backend takes: what its kernels are compared with.
#pragma once

#include <map>
#include <vector>

#include "ir/graph.h"

namespace collage::test {

/// A tensor's numbers, row-major.
using Numbers = std::vector<double>;

/// Computes every value of a graph of the operators known here; stops the test program on any other.
std::map<ValueId, Numbers> compute(const Graph& graph, std::map<ValueId, Numbers> inputs);

}  // namespace collage::test
