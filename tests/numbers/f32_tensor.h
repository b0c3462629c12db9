// A tensor of one axis from its values.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/tensor.h"

namespace collage {

inline Tensor f32(const std::vector<float>& values) {
  return make_tensor<float>(ElementType::kFloat32, {static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace collage
