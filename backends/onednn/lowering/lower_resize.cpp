// Linear resizing with other coordinate rules than the library's own, which supports half pixels only: products with
// matrices of weights, first along the rows of pixels, then across them. A dense product does more arithmetic than
// interpolation between two pixels, but runs at the speed of the library's matrix kernels.
#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

/// Each row of pixels, [columns, channels], times the weights along it.
int stretch_rows(Composer& composer, const Analysis& analysis, const Choice& choice, const Extents& in,
                 const Extents& out) {
  const Format format = port_format(in, Layout::kChannelsLast);
  if (in[3] == out[3]) return composer.view(analysis.source, format, {in[2], in[3] * in[1]});
  const int weights = composer.interpolation(analysis.as<ResamplingHead>().positions[1], in[3]);
  const int between = composer.temporary({in[2], out[3] * in[1]}, Layout::kPlain);
  const int source = composer.view(analysis.source, format, {in[2] * in[3], in[1]});
  for (std::int64_t row = 0; row < in[2]; ++row) {
    const int from = composer.part(source, {in[3], in[1]}, {}, row * in[3] * in[1]);
    const int to = composer.part(between, {out[3], in[1]}, {}, row * out[3] * in[1]);
    composer.add({.kind = OpKind::kMatMul, .inputs = {weights, from}, .output = to, .family = choice.family});
  }
  return between;
}

}  // namespace

Lowering lower_resize_by_products(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const Extents in = composer.extents(analysis.source);
  const Extents out = composer.extents(analysis.head_result);
  if (in[2] == out[2]) return refuse_lowering(RefusalReason::kShape, "nothing to resize across rows");
  const Extents seen = {out[2], out[3] * out[1]};
  const Format format = port_format(out, Layout::kChannelsLast);
  const int rows = stretch_rows(composer, analysis, choice, in, out);
  Op op{.kind = OpKind::kMatMul, .family = choice.family};
  op.inputs = {composer.interpolation(analysis.as<ResamplingHead>().positions[0], in[2]), rows};
  for (const Step& step : analysis.chain.steps) {
    int operand = -1;
    if (step.operand.valid()) {
      if (composer.is_constant(step.operand) || composer.extents(step.operand) != out)
        return refuse_lowering(RefusalReason::kShape, "an operand of another shape after products");
      operand = composer.view(step.operand, format, seen);
    }
    op.post.push_back(post_of(step, operand));
  }
  op.output = composer.output_view(format, seen);
  composer.add(std::move(op));
  return {};
}

}  // namespace collage::onednn
