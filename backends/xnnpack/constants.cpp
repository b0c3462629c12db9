#include "constants.h"

#include <xnnpack.h>

#include <algorithm>
#include <cstring>

namespace collage::xnnpack {
namespace {

/// Whether the elements that are gathered lie inside of so many.
bool is_inside(const TensorInfo& tensor, std::int64_t elements) {
  if (tensor.gathered.size() != tensor.steps.size()) return false;
  std::int64_t last = 0;
  // Divides instead of multiplying: the numbers may be anything.
  for (std::size_t axis = 0; axis < tensor.gathered.size(); ++axis) {
    const std::int64_t count = tensor.gathered[axis];
    const std::int64_t step = tensor.steps[axis];
    if (count < 1 || step < 0) return false;
    if (count == 1) continue;
    if (step > (elements - 1 - last) / (count - 1)) return false;
    last += step * (count - 1);
  }
  return elements > last;
}

void gather(const float* from, const TensorInfo& tensor, std::size_t axis, float*& to) {
  const std::int64_t count = tensor.gathered[axis];
  const std::int64_t step = tensor.steps[axis];
  if (axis + 1 < tensor.gathered.size()) {
    for (std::int64_t i = 0; i < count; ++i) gather(from + i * step, tensor, axis + 1, to);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) *to++ = from[i * step] * tensor.scale;
}

}  // namespace

Buffer blank_bytes(const TensorInfo& tensor) {
  return Buffer::make(byte_count(ElementType::kFloat32, tensor.extents) + XNN_EXTRA_BYTES, [](std::span<std::byte>) {});
}

Result<Buffer> constant_bytes(const Program& program, const TensorInfo& tensor, const std::vector<Tensor>& constants) {
  if (tensor.index >= constants.size()) return bad_artifact("a constant that is not given");
  const Tensor& constant = constants[tensor.index];
  if (program.is_prepared) {
    if (constant.data.size() != byte_count(ElementType::kFloat32, tensor.extents) + XNN_EXTRA_BYTES)
      return bad_artifact("a prepared constant of another size");
    return constant.data;
  }
  const auto elements = static_cast<std::int64_t>(constant.data.size() / sizeof(float));
  if (constant.type != ElementType::kFloat32) return bad_artifact("a constant of another type");
  TensorInfo whole = tensor;
  if (whole.gathered.empty()) {
    whole.gathered = {elements};
    whole.steps = {1};
  }
  if (element_count(whole.gathered) != element_count(tensor.extents) || !is_inside(whole, elements))
    return bad_artifact("a constant of another size");
  return Buffer::make(byte_count(ElementType::kFloat32, tensor.extents) + XNN_EXTRA_BYTES,
                      [&](std::span<std::byte> bytes) {
                        auto* to = reinterpret_cast<float*>(bytes.data());
                        gather(constant.data.as<float>().data(), whole, 0, to);
                      });
}

Result<PreparedArtifact> prepare(Program program, const std::vector<Tensor>& constants) {
  PreparedArtifact prepared;
  for (TensorInfo& tensor : program.tensors) {
    if (tensor.role != Role::kConstant) continue;
    COLLAGE_TRY(Buffer bytes, constant_bytes(program, tensor, constants));
    tensor = {.role = Role::kConstant,
              .index = static_cast<std::uint32_t>(prepared.constants.size()),
              .extents = tensor.extents};
    prepared.constants.emplace_back(std::move(bytes));
  }
  program.is_prepared = true;
  prepared.bytes = to_json(program);
  return prepared;
}

}  // namespace collage::xnnpack
