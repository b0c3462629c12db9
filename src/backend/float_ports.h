// How many floats an artifact finds at its ports, for backends whose kernels compute in f32 only: both come with plan
// files of others.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "region/format.h"

namespace collage {

/// Elements of a static f32 port in a common format; -1 for others: kernels over floats must not touch them.
[[nodiscard]] inline std::int64_t floats_in(const Port& port) {
  const Format& format = port.place.format;
  if (!port.type.is_static() || port.type.element != ElementType::kFloat32 || !is_common(format) || format.narrow())
    return -1;
  return element_count(port.type.extents());
}

/// Likewise of what a program reads by number: the inputs, behind them the constants.
[[nodiscard]] inline std::int64_t floats_in(const LoadRequest& request, std::uint64_t source) {
  if (source < request.inputs.size()) return floats_in(request.inputs[source]);
  const std::uint64_t constant = source - request.inputs.size();
  if (constant >= request.constants.size()) return -1;
  const Tensor& tensor = request.constants[constant];
  return tensor.type == ElementType::kFloat32 ? static_cast<std::int64_t>(tensor.data.size() / sizeof(float)) : -1;
}

}  // namespace collage
