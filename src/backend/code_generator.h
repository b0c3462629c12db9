// What a backend is besides when it compiles the tensor code of others.
// In: tensor code. Out: artifacts that the same backend loads.
// Cost: that of compiling.
// Source: the default `target.build` of TVM's RFC 10, which a target's own TIRToRuntime replaces.
#pragma once

#include <expected>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/tensor_code.h"

namespace collage {

class CodeGenerator {
 public:
  virtual ~CodeGenerator();
  /// One artifact for each code, in order. Its constants are those of the code.
  [[nodiscard]] virtual std::vector<std::expected<Artifact, Refusal>> codegen(std::span<const TensorCode> codes,
                                                                              const CompileOptions& options) = 0;
};

/// The backend's code generator; null when it has none.
[[nodiscard]] CodeGenerator* code_generator_of(Backend* backend);

}  // namespace collage
