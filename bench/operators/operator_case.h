// One configuration of the operator benchmark: a small region as it stands in a real model.
// In: a file of cases. Out: cases, ready to compile.
//   case CLASS/NAME (model=MODEL share=PART)? (%INPUT=LO..HI)*
//   graph(...) -> (...) { ... }               the text form of graphs
// MODEL is where the configuration takes most of the time and PART the part of that model's time, in percent. An input
// whose name begins with 'w' is a weight: it becomes a constant with seeded elements of its range. '#' begins a
// comment line.
// Cost: reading is linear in the file; ready_case() draws every element.
// Source: the form of tests/conformance/cases.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"

namespace collage::bench {

using Ranges = std::map<std::string, std::pair<double, double>>;

struct OperatorCase {
  std::string name;   ///< "CLASS/NAME"
  std::string model;  ///< empty for a configuration that stands in no model as it is
  double share = 0;   ///< percent
  Ranges ranges;      ///< of inputs and weights that N(0,1) does not suit
  Graph graph;        ///< weights are inputs

  [[nodiscard]] std::string class_name() const { return name.substr(0, name.find('/')); }
};

/// A case with its weights as constants and something to feed it with.
struct ReadyCase {
  Graph graph;
  std::vector<Tensor> inputs;
};

/// Error bench/malformed, or of reading and verifying a graph, with the case's name in `where`.
[[nodiscard]] Result<std::vector<OperatorCase>> read_operator_cases(const std::string& path);

/// What read_operator_cases() reads back.
[[nodiscard]] std::string to_text(const OperatorCase& which);

/// Errors of make_inputs.
[[nodiscard]] Result<ReadyCase> ready_case(const OperatorCase& which);

}  // namespace collage::bench
