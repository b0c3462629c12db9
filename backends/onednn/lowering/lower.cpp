#include "lowering/lower.h"

#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

/// The program of each kind of head.
struct HeadLowering {
  Composer& composer;
  const Analysis& analysis;
  const Choice& choice;

  Lowering operator()(const ElementwiseHead&) const { return lower_elementwise(composer, analysis, choice); }
  Lowering operator()(const ConvolutionHead&) const { return lower_convolution(composer, analysis, choice); }
  Lowering operator()(const SeriesHead&) const { return lower_convolution(composer, analysis, choice); }
  Lowering operator()(const DeconvolutionHead&) const { return lower_convolution(composer, analysis, choice); }
  Lowering operator()(const MatMulFacts&) const { return lower_matmul(composer, analysis, choice); }
  Lowering operator()(const PoolingFacts&) const { return lower_pooling(composer, analysis, choice); }
  Lowering operator()(const ConcatHead&) const { return lower_concat(composer, analysis, choice); }
  Lowering operator()(const ResamplingHead&) const { return lower_resampling(composer, analysis, choice); }
  Lowering operator()(const SoftmaxHead&) const { return lower_softmax(composer, analysis, choice); }
  Lowering operator()(const LayerNormHead&) const { return lower_layer_norm(composer, analysis, choice); }
  Lowering operator()(const BatchNormHead&) const { return lower_batch_norm(composer, analysis, choice); }
  Lowering operator()(const ReductionHead&) const { return lower_reduction(composer, analysis, choice); }
  Lowering operator()(const LrnHead&) const { return lower_lrn(composer, analysis, choice); }
};

}  // namespace

std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, const Analysis& analysis,
                                      const Choice& choice) {
  Composer composer(graph, region);
  if (auto ok = std::visit(HeadLowering{composer, analysis, choice}, analysis.head); !ok)
    return std::unexpected(ok.error());
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
