#include "constants.h"

#include <xnnpack.h>

#include <algorithm>
#include <cstring>

namespace collage::xnnpack {
namespace {

/// gather() calls itself once for each axis.
constexpr std::size_t kMostGathered = 8;

/// Whether the elements that are gathered lie inside of so many.
bool is_inside(const TensorInfo& tensor, std::int64_t elements) {
  if (tensor.gathered.size() > kMostGathered || tensor.gathered.size() != tensor.steps.size()) return false;
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

/// `move` is what becomes of each element.
template <class Element, class Move>
void gather(const Element* from, const TensorInfo& tensor, std::size_t axis, Element*& to, const Move& move) {
  const std::int64_t count = tensor.gathered[axis];
  const std::int64_t step = tensor.steps[axis];
  if (axis + 1 < tensor.gathered.size()) {
    for (std::int64_t i = 0; i < count; ++i) gather(from + i * step, tensor, axis + 1, to, move);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) *to++ = move(from[i * step]);
}

std::size_t bytes_with_tail(const TensorInfo& tensor) {
  return byte_count(tensor.type, tensor.extents) + XNN_EXTRA_BYTES;
}

void gather_all(const Tensor& constant, const TensorInfo& tensor, std::span<std::byte> bytes) {
  if (tensor.type == ElementType::kFloat32) {
    auto* to = reinterpret_cast<float*>(bytes.data());
    gather(constant.data.as<float>().data(), tensor, 0, to, [&](float one) { return one * tensor.scale; });
    return;
  }
  auto* to = reinterpret_cast<std::uint8_t*>(bytes.data());
  const unsigned flip = is_flipped(constant.type, tensor.type) ? kSignBit : 0U;
  gather(constant.data.as<std::uint8_t>().data(), tensor, 0, to,
         [flip](std::uint8_t one) { return static_cast<std::uint8_t>(one ^ flip); });
}

}  // namespace

Buffer blank_bytes(const TensorInfo& tensor) {
  return Buffer::make(bytes_with_tail(tensor), [](std::span<std::byte>) {});
}

Result<void> check_repeats(const Program& program, const std::vector<Tensor>& constants) {
  constexpr std::size_t kMostRepeated = std::size_t{1} << 31;
  std::size_t left = kMostRepeated;
  for (const Tensor& constant : constants) left += constant.data.size();
  for (const TensorInfo& tensor : program.tensors) {
    if (tensor.role != Role::kConstant) continue;
    const std::size_t bytes = byte_count(tensor.type, tensor.extents);
    if (bytes > left) return bad_artifact("constants beyond what they are made from");
    left -= bytes;
  }
  return {};
}

Result<Buffer> constant_bytes(const Program& program, const TensorInfo& tensor, const std::vector<Tensor>& constants) {
  if (tensor.index >= constants.size()) return bad_artifact("a constant that is not given");
  const Tensor& constant = constants[tensor.index];
  if (program.is_prepared) {
    if (constant.data.size() != bytes_with_tail(tensor)) return bad_artifact("a prepared constant of another size");
    return constant.data;
  }
  if (constant.type != tensor.type && !is_flipped(constant.type, tensor.type))
    return bad_artifact("a constant of another type");
  if (tensor.type == ElementType::kInt32) return bad_artifact("a constant of i32");
  const auto elements = static_cast<std::int64_t>(constant.data.size() / byte_count(tensor.type, {1}));
  TensorInfo whole = tensor;
  if (whole.gathered.empty()) {
    whole.gathered = {elements};
    whole.steps = {1};
  }
  if (element_count(whole.gathered) != element_count(tensor.extents) || !is_inside(whole, elements))
    return bad_artifact("a constant of another size");
  return Buffer::make(bytes_with_tail(tensor), [&](std::span<std::byte> bytes) { gather_all(constant, whole, bytes); });
}

Result<PreparedArtifact> prepare(Program program, const std::vector<Tensor>& constants) {
  COLLAGE_TRY_VOID(check_repeats(program, constants));
  PreparedArtifact prepared;
  for (TensorInfo& tensor : program.tensors) {
    if (tensor.role != Role::kConstant) continue;
    COLLAGE_TRY(Buffer bytes, constant_bytes(program, tensor, constants));
    tensor.index = static_cast<std::uint32_t>(prepared.constants.size());
    tensor.gathered = tensor.steps = {};
    tensor.scale = 1.F;
    prepared.constants.emplace_back(std::move(bytes));
  }
  program.is_prepared = true;
  prepared.bytes = to_json(program);
  return prepared;
}

}  // namespace collage::xnnpack
