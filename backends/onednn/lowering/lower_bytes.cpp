// What products of bytes need besides what those of real numbers have.
#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

int one_number(Composer& composer, float number, ElementType type = ElementType::kFloat32) {
  return composer.numbers({number}, {1}, type);
}

/// Nothing for zero: the library's kernels are faster without.
int zero_point(Composer& composer, std::int64_t zero) {
  return zero == 0 ? -1 : one_number(composer, static_cast<float>(zero), ElementType::kInt32);
}

}  // namespace

void add_byte_numbers(Composer& composer, const ByteFacts& bytes, Op& op, const Extents& bias) {
  if (composer.is_constant(bytes.weights.id)) composer.make_signed(op.inputs[1]);
  if (!bytes.bias.empty()) op.inputs.push_back(composer.numbers({bytes.bias.begin(), bytes.bias.end()}, bias));
  op.scaling.source = one_number(composer, bytes.source.scales[0]);
  op.scaling.source_zero = zero_point(composer, bytes.source.zero);
  op.scaling.weights = composer.numbers(bytes.weights.scales, {std::ssize(bytes.weights.scales)});
  op.scaling.weights_zero = zero_point(composer, bytes.weights.zero);
  if (!bytes.result) return;
  op.scaling.result = one_number(composer, bytes.result->scales[0]);
  op.scaling.result_zero = zero_point(composer, bytes.result->zero);
}

}  // namespace collage::onednn
