// A region as TVM gets it: operations on tensors of f32, whose axes lie in memory as written.
// In:  made by lowering/ from a region. Out: JSON, which worker/describe.py reads.
// Cost: some hundred bytes for an operation. Weights are not part of it: equal layers have equal descriptions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "ir/graph.h"
#include "region/format.h"

namespace collage::tvm {

/// A constant as kernels read it: its elements are gathered row-major over these extents, with these steps in the
/// model's tensor. A step of 0 repeats.
struct ConstantRead {
  std::uint32_t index = 0;  ///< of the constants that the artifact asks for
  Extents extents;
  Extents steps;
  bool operator==(const ConstantRead&) const = default;
};

/// Values have names: x0, x1... for inputs, w0... for constants, t0... for results of operations.
struct Description {
  std::vector<Extents> inputs;
  std::vector<ConstantRead> constants;
  Json ops = Json::array();
  std::vector<std::string> outputs;
};

[[nodiscard]] Json to_json(const Description& description);

}  // namespace collage::tvm
