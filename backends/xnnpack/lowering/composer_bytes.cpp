// The part of Composer that gives integers their tensors.
#include <algorithm>

#include "lowering/composer.h"

namespace collage::xnnpack {
namespace {

/// What moves bytes of one kind to those of the other one.
constexpr int kHalf = 128;

bool stands_for_the_same(const TensorInfo& one, const TensorInfo& other) {
  return one.type == other.type && one.scales == other.scales && one.zero == other.zero;
}

}  // namespace

const Bytes* Composer::bytes_behind(ValueId real) const {
  const auto found = bytes_.find(real);
  return found == bytes_.end() ? nullptr : &found->second;
}

TensorInfo Composer::encoded(const Bytes& bytes) const {
  TensorInfo info{.type = form_ == ByteForm::kSigned ? ElementType::kInt8 : ElementType::kUint8,
                  .scales = bytes.scales,
                  .zero = static_cast<int>(bytes.zero)};
  if (info.type != bytes.type) info.zero += form_ == ByteForm::kSigned ? -kHalf : kHalf;
  return info;
}

std::expected<int, Refusal> Composer::read_bytes(const Bytes& bytes, std::size_t result_rank) {
  if (!bytes.has_one_scale()) return refuse(RefusalReason::kStructure, "scales of channels of an activation");
  const Extents own = extents(bytes.id);
  TensorInfo info = encoded(bytes);
  if (constant_of(graph_, bytes.id) != nullptr) {
    if (own.size() > result_rank) return refuse(RefusalReason::kShape, "a constant of more axes");
    TensorInfo gathered = broadcast_constant(own, result_rank);
    info.extents = std::move(gathered.extents);
    info.gathered = std::move(gathered.gathered);
    info.steps = std::move(gathered.steps);
    return constant(bytes.id, std::move(info));
  }
  const bool fits =
      own.size() == result_rank || element_count(own) == 1 || (!is_turned(result_rank) && !is_turned(own.size()));
  if (!fits) return refuse(RefusalReason::kFormat, "an operand of lower rank in another order");
  if (const auto found = tensors_.find(bytes.id); found != tensors_.end()) {
    if (!stands_for_the_same(tensor(found->second), info))
      return refuse(RefusalReason::kStructure, "bytes that stand for several numbers");
    return found->second;
  }
  const auto port = std::ranges::find(region_.inputs, bytes.id) - region_.inputs.begin();
  COLLAGE_CHECK(port < std::ssize(region_.inputs), "bytes that nothing has computed");
  info.role = Role::kInput;
  info.index = static_cast<std::uint32_t>(port);
  info.extents = library_extents(own);
  lowered_.program.tensors.push_back(std::move(info));
  return tensors_[bytes.id] = static_cast<int>(lowered_.program.tensors.size()) - 1;
}

int Composer::write_bytes(const Bytes& bytes) { return write_as(bytes.id, encoded(bytes)); }

int Composer::write_like(ValueId id, int like) {
  if (result_ && result_->first == id) return write(id);
  const TensorInfo& source = tensor(like);
  return write_as(id, {.type = source.type, .scales = source.scales, .zero = source.zero});
}

int Composer::literal(std::vector<std::int32_t> numbers, std::vector<float> scales) {
  TensorInfo info{.role = Role::kLiteral,
                  .extents = {std::ssize(numbers)},
                  .type = ElementType::kInt32,
                  .scales = std::move(scales),
                  .numbers = std::move(numbers)};
  if (form_ == ByteForm::kSigned) info.channel_axis = 0;
  lowered_.program.tensors.push_back(std::move(info));
  return static_cast<int>(lowered_.program.tensors.size()) - 1;
}

void Composer::limit_last(float least, float most) {
  Op& op = lowered_.program.ops.back();
  const TensorInfo result = tensor(op.output);
  const bool is_signed = result.type == ElementType::kInt8;
  const auto real = [&](int integer) { return static_cast<float>(integer - result.zero) * result.scales[0]; };
  // Bytes have limits anyway.
  if (least <= real(is_signed ? -kHalf : 0) && most >= real(is_signed ? kHalf - 1 : 2 * kHalf - 1)) return;
  const bool takes_limits = op.kind != OpKind::kBinary && op.kind != OpKind::kUnary && op.kind != OpKind::kReduction;
  if (takes_limits) {
    op.least = std::max(op.least, least);
    op.most = std::min(op.most, most);
    return;
  }
  TensorInfo between = result;
  between.role = Role::kTemporary;
  between.index = 0;
  lowered_.program.tensors.push_back(std::move(between));
  Op clamp{.kind = OpKind::kUnary, .algorithm = "clamp", .output = op.output, .least = least, .most = most};
  op.output = static_cast<int>(lowered_.program.tensors.size()) - 1;
  clamp.inputs = {op.output};
  add(std::move(clamp));
}

}  // namespace collage::xnnpack
