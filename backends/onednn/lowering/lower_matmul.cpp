// Products: MatMul and Gemm, with transposes folded into strides and constant factors packed once.
#include <algorithm>

#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

/// A factor as the product sees it: extents and strides after folded transposes, at least rank 2.
struct Seen {
  Extents extents, strides;
  [[nodiscard]] std::size_t rank() const { return extents.size(); }
};

Seen seen(const Composer& composer, const Factor& factor, bool is_left) {
  Seen result{.extents = composer.extents(factor.value), .strides = {}};
  result.strides = row_major_strides(result.extents);
  if (!factor.order.empty()) {
    const Seen before = result;
    for (std::size_t i = 0; i < factor.order.size(); ++i) {
      result.extents[i] = before.extents[static_cast<std::size_t>(factor.order[i])];
      result.strides[i] = before.strides[static_cast<std::size_t>(factor.order[i])];
    }
  }
  if (result.rank() == 1) {
    const auto at = is_left ? 0 : 1;
    result.extents.insert(result.extents.begin() + at, 1);
    result.strides.insert(result.strides.begin() + at, 1);
  }
  return result;
}

bool is_row_major(const Seen& factor) { return factor.strides == row_major_strides(factor.extents); }

/// Axes of 1 in front, so that both factors have the same rank.
void lead_to(Seen& factor, std::size_t rank) {
  while (factor.rank() < rank) {
    factor.strides.insert(factor.strides.begin(), factor.extents[0] * factor.strides[0]);
    factor.extents.insert(factor.extents.begin(), 1);
  }
}

void drop_leading_ones(Seen& factor) {
  while (factor.rank() > 2 && factor.extents[0] == 1) {
    factor.extents.erase(factor.extents.begin());
    factor.strides.erase(factor.strides.begin());
  }
}

/// All axes but the last as one.
Extents flat(const Extents& extents) { return {element_count(extents) / extents.back(), extents.back()}; }

/// The product as two-dimensional when the right factor is one matrix.
struct Shape {
  Seen a, b;
  Extents out;        ///< as the library sees it
  Extents chain_out;  ///< as the steps see it
  bool is_flat = false;
};

Shape shape_of(const Composer& composer, const MatMulFacts& facts, const Extents& out) {
  Shape shape{.a = seen(composer, facts.a, true), .b = seen(composer, facts.b, false), .out = {}, .chain_out = out};
  drop_leading_ones(shape.b);
  if (shape.b.rank() == 2 && (shape.a.rank() == 2 || is_row_major(shape.a)) && facts.out_order.empty()) {
    shape.is_flat = true;
    if (shape.a.rank() > 2) {
      shape.a.extents = flat(shape.a.extents);
      shape.a.strides = row_major_strides(shape.a.extents);
    }
    shape.out = {shape.a.extents[0], shape.b.extents[1]};
    return shape;
  }
  const std::size_t rank = std::max(shape.a.rank(), shape.b.rank());
  lead_to(shape.a, rank);
  lead_to(shape.b, rank);
  for (std::size_t axis = 0; axis + 2 < rank; ++axis)
    shape.out.push_back(std::max(shape.a.extents[axis], shape.b.extents[axis]));
  shape.out.push_back(shape.a.extents[rank - 2]);
  shape.out.push_back(shape.b.extents[rank - 1]);
  return shape;
}

/// A step's operand in the extents the library sees.
std::expected<Extents, Refusal> operand_extents(const Extents& own, const Shape& shape) {
  const Extents extents = aligned(own, shape.chain_out.size());
  if (!shape.is_flat) {
    if (extents.size() == shape.out.size()) return extents;
    return refuse_lowering(RefusalReason::kShape, "a step after a product with a vector");
  }
  if (element_count(extents) == element_count(shape.out)) return shape.out;
  const std::int64_t rows = element_count(extents) / extents.back();
  const std::int64_t columns = shape.out[1] == 1 ? 1 : extents.back();
  if (rows == 1 || rows == shape.out[0]) return Extents{rows, columns};
  return refuse_lowering(RefusalReason::kShape, "an operand broadcast over some of the rows");
}

std::expected<int, Refusal> operand_tensor(Composer& composer, ValueId id, const Shape& shape, float scale = 1.F) {
  const auto extents = operand_extents(composer.extents(id), shape);
  if (!extents) return std::unexpected(extents.error());
  if (composer.is_constant(id)) return composer.constant(id, *extents, {}, Layout::kPlain, scale);
  return composer.view(id, plain(), *extents, row_major_strides(*extents));
}

/// The output's strides: row-major, or what a Transpose after the chain makes of them.
Extents output_strides(const MatMulFacts& facts, const Extents& out) {
  if (facts.out_order.empty()) return row_major_strides(out);
  Extents written(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) written[i] = out[static_cast<std::size_t>(facts.out_order[i])];
  const Extents dense = row_major_strides(written);
  Extents strides(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) strides[static_cast<std::size_t>(facts.out_order[i])] = dense[i];
  return strides;
}

/// Whether a constant fits as the primitive's own bias: one number per column.
bool is_row(const Composer& composer, ValueId id, const Shape& shape) {
  if (!composer.is_constant(id)) return false;
  const Extents extents = composer.extents(id);
  return !extents.empty() && extents.back() == shape.out.back() && element_count(extents) == shape.out.back();
}

int bias_tensor(Composer& composer, ValueId id, const Shape& shape, const Choice& choice, float scale) {
  const Extents row = choice.method == Method::kInnerProduct ? Extents{shape.out.back()}
                                                             : aligned({shape.out.back()}, shape.out.size());
  return composer.constant(id, row, {}, Layout::kPlain, scale);
}

/// Gemm's alpha and bias, then the steps; a row of constants becomes the primitive's bias when nothing comes before.
Lowering append_rest(Composer& composer, const Analysis& analysis, const Choice& choice, const Shape& shape, Op& op) {
  const MatMulFacts& facts = analysis.as<MatMulFacts>();
  const bool scales = facts.alpha != 1.F && !composer.is_constant(facts.b.value);
  if (scales) op.post.push_back({.kind = PostOp::Kind::kEltwise, .algorithm = "linear", .alpha = facts.alpha});
  bool has_bias = false;
  if (facts.bias.valid() && facts.beta != 0.F) {
    has_bias = true;
    if (!scales && is_row(composer, facts.bias, shape)) {
      op.inputs.push_back(bias_tensor(composer, facts.bias, shape, choice, facts.beta));
    } else {
      const auto tensor = operand_tensor(composer, facts.bias, shape, facts.beta);
      if (!tensor) return std::unexpected(tensor.error());
      op.post.push_back({.kind = PostOp::Kind::kBinary, .algorithm = "add", .tensor = *tensor});
    }
  }
  for (std::size_t i = 0; i < analysis.chain.steps.size(); ++i) {
    const Step& step = analysis.chain.steps[i];
    if (i == 0 && !has_bias && !scales && !analysis.bytes && step.algorithm == "add" &&
        is_row(composer, step.operand, shape)) {
      op.inputs.push_back(bias_tensor(composer, step.operand, shape, choice, 1.F));
      continue;
    }
    int operand = -1;
    if (step.operand.valid()) {
      const auto tensor = operand_tensor(composer, step.operand, shape);
      if (!tensor) return std::unexpected(tensor.error());
      operand = *tensor;
    }
    op.post.push_back(post_of(step, operand));
  }
  return {};
}

/// The right factor: a constant is packed with alpha inside, and for an inner product seen as [out, in].
int right_factor(Composer& composer, const MatMulFacts& facts, const Shape& shape, const Choice& choice) {
  Seen b = shape.b;
  if (choice.method == Method::kInnerProduct) {
    std::swap(b.extents[0], b.extents[1]);
    std::swap(b.strides[0], b.strides[1]);
  }
  if (composer.is_constant(facts.b.value))
    return composer.constant(facts.b.value, b.extents, b.strides, Layout::kPlain, facts.alpha);
  return composer.view(facts.b.value, plain(), b.extents, b.strides);
}

}  // namespace

Lowering lower_matmul(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const MatMulFacts& facts = analysis.as<MatMulFacts>();
  const Extents out = composer.extents(analysis.head_result);
  const Shape shape = shape_of(composer, facts, out);
  const bool is_inner = choice.method == Method::kInnerProduct;
  if (is_inner && (!shape.is_flat || !is_row_major(shape.a) || !composer.is_constant(facts.b.value)))
    return refuse_lowering(RefusalReason::kShape, "an inner product takes rows by a constant matrix");
  if (std::ranges::find(shape.a.extents, 0) != shape.a.extents.end())
    return refuse_lowering(RefusalReason::kShape, "empty factor");
  Op op{.kind = is_inner ? OpKind::kInnerProduct : OpKind::kMatMul, .family = choice.family};
  const int left = composer.is_constant(facts.a.value)
                       ? composer.constant(facts.a.value, shape.a.extents, shape.a.strides)
                       : composer.view(facts.a.value, plain(), shape.a.extents, shape.a.strides);
  op.inputs = {left, right_factor(composer, facts, shape, choice)};
  if (auto ok = append_rest(composer, analysis, choice, shape, op); !ok) return ok;
  if (analysis.bytes)
    add_byte_numbers(composer, *analysis.bytes, op,
                     is_inner ? Extents{shape.out.back()} : aligned({shape.out.back()}, shape.out.size()));
  op.output = composer.output_view(plain(), shape.out, output_strides(facts, shape.out));
  composer.add(std::move(op));
  return {};
}

}  // namespace collage::onednn
