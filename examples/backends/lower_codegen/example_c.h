// A backend with `lower` and `codegen`: element-wise regions become tensor code, and tensor code becomes C++ source,
// which the compiler of this machine makes a shared object of. For a processor that only its maker's compiler knows.
#pragma once

#include <backend/hooks.h>

namespace example {

using namespace collage;

std::vector<std::expected<TensorCode, Refusal>> lower(const BackendOptions&, std::span<const CompileRequest>,
                                                      const CompileOptions&);
std::vector<std::expected<Artifact, Refusal>> codegen(const BackendOptions&, std::span<const TensorCode>,
                                                      const CompileOptions&);
Result<std::unique_ptr<Kernel>> load(const BackendOptions&, const LoadRequest&);

}  // namespace example
