// A backend with the hooks `lower` and `codegen`: element-wise regions become tensor code, and tensor code becomes C++
// source, which this machine's compiler turns into a shared object. This is how a processor is supported that only its
// maker's compiler knows.
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
