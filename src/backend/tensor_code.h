// Tensor code in transit between backends: the loops of one region as serialised bytes, with a description of the
// buffers.
// In:  a pipeline that a backend's hook `lower` wrote. Out: the same for a code generator, in this process or another.
// How: the bytes are those of Halide::serialize_pipeline. No type of Halide appears here, so that a backend without
//       tensor code does not need Halide. A buffer is a port or constant viewed as a dense or broadcast array; its
//       strides map loop indices to bytes, so plain and channels_last differ only in their strides.
// Cost: a copy of the bytes.
// Not here: scheduling and machine code (code_generator.h).
// Source: RelayToTIR and TIRToRuntime of TVM's RFC 10, with bytes in place of a shared object graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "region/region.h"

namespace collage {

enum class ArgumentKind : std::uint8_t { kInput, kConstant, kOutput };

/// One buffer that the code is called with.
struct TensorArgument {
  ArgumentKind kind = ArgumentKind::kInput;
  std::uint32_t index = 0;  ///< of the port, or of the constant
  ElementType type = ElementType::kFloat32;
  Extents extents;  ///< outer to inner as the code was written; at most eight
  Extents strides;  ///< elements
  bool operator==(const TensorArgument&) const = default;
};

struct TensorCode {
  std::string pipeline;                   ///< bytes of Halide::serialize_pipeline
  std::vector<std::string> parameters;    ///< names of its ImageParams, one for each input and constant argument
  std::vector<TensorArgument> arguments;  ///< inputs and constants as `parameters`, then its outputs in its order
  std::vector<ValueId> constants;         ///< of the graph: those that constant arguments name, bytes as in the graph
  std::vector<std::string> libraries;     ///< files with the C functions it calls: an archive becomes part of the
                                          ///< artifact, a shared library is looked for where it lies now
};

/// An array with these extents, row-major, whose bytes are a port's or a constant's.
[[nodiscard]] TensorArgument dense_argument(ArgumentKind kind, std::uint32_t index, ElementType type, Extents extents);

/// What is wrong with the code's description for this region: a buffer that reaches past its port, a port that
/// is not written. Nothing when all fits. The pipeline's bytes are not checked.
[[nodiscard]] std::optional<std::string> fault_of(const TensorCode& code, const Graph& graph, const Region& region);

}  // namespace collage
