// An interpreter for a few operators on small tensors, in double precision: the oracle of the tests of passes.
// Slow and obvious on purpose. Operators it does not know fail the test that uses them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"
#include "passes/simplify.h"

namespace collage::test {

struct Array {
  Extents extents;
  std::vector<double> data;
};

/// Every value of the graph by name, inputs given. Error test/unknown-operator for what it does not know.
Result<std::map<std::string, Array>> evaluate(const Graph& graph, const std::map<std::string, Array>& inputs);

/// For folding: computes graphs without inputs.
Evaluator tiny_evaluator();

}  // namespace collage::test
