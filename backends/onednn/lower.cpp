#include "lower.h"

#include "lower_parts.h"

namespace collage::onednn {
namespace {

Lowering lower_head(Composer& composer, const Analysis& analysis, const Choice& choice) {
  switch (analysis.head) {
    case Head::kElementwise:
      return lower_elementwise(composer, analysis, choice);
    case Head::kConvolution:
    case Head::kSeries:
    case Head::kDeconvolution:
      return lower_convolution(composer, analysis, choice);
    case Head::kMatMul:
      return lower_matmul(composer, analysis, choice);
    case Head::kPooling:
      return lower_pooling(composer, analysis, choice);
    case Head::kConcat:
      return lower_concat(composer, analysis, choice);
    case Head::kResampling:
      return lower_resampling(composer, analysis, choice);
    case Head::kSoftmax:
      return lower_softmax(composer, analysis, choice);
    case Head::kLayerNorm:
      return lower_layer_norm(composer, analysis, choice);
    case Head::kBatchNorm:
      return lower_batch_norm(composer, analysis, choice);
    case Head::kReduction:
      return lower_reduction(composer, analysis, choice);
    case Head::kLrn:
      return lower_lrn(composer, analysis, choice);
  }
  return {};
}

}  // namespace

std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, const Analysis& analysis,
                                      const Choice& choice) {
  Composer composer(graph, region);
  if (auto ok = lower_head(composer, analysis, choice); !ok) return std::unexpected(ok.error());
  return composer.finish();
}

Program reorder_program(ElementType type, const Extents& extents, Layout from, Layout to) {
  Program program;
  program.tensors = {{.role = Role::kInput, .index = 0, .type = type, .extents = extents, .layout = from},
                     {.role = Role::kOutput, .index = 0, .type = type, .extents = extents, .layout = to}};
  program.ops = {{.kind = OpKind::kReorder, .inputs = {0}, .output = 1}};
  return program;
}

}  // namespace collage::onednn
