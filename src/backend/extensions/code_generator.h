// Optional interface of a backend that compiles tensor code written by other backends.
// In:  tensor code. Out: artifacts, which the same backend loads.
#pragma once

#include <expected>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/tensor_code.h"

namespace collage {

class CodeGenerator : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kTensorCode;
  /// One artifact for each code, in order. Its constants are those of the code.
  [[nodiscard]] virtual std::vector<std::expected<Artifact, Refusal>> codegen(std::span<const TensorCode> codes,
                                                                              const CompileOptions& options) = 0;
};

}  // namespace collage
