#include "lowering/lower.h"

#include "lowering/lower_parts.h"
#include "lowering/narrow.h"
#include "lowering/split.h"

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

/// The library moves f32 between rows and whole blocks several times faster than it does so while it rounds or widens:
/// one reorder for the layout, in f32, and one for the element type.
bool goes_by_f32(const Extents& extents, const Arrangement& from, const Arrangement& to) {
  const auto joins = [&](Layout one, Layout other) { return from.layout == one && to.layout == other; };
  const bool blocks_rows = joins(Layout::kPlain, Layout::kBlocked) || joins(Layout::kBlocked, Layout::kPlain);
  return from.element != to.element && blocks_rows && extents[1] % native_block() == 0;
}

}  // namespace

std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, const Analysis& analysis,
                                      const Choice& choice) {
  Composer composer(graph, region);
  if (auto ok = std::visit(HeadLowering{composer, analysis, choice}, analysis.head); !ok)
    return std::unexpected(ok.error());
  auto lowered = composer.finish();
  if (lowered && choice.narrow) return narrowed(*std::move(lowered), *choice.narrow);
  if (lowered && choice.splits) return split(*std::move(lowered));
  return lowered;
}

Program reorder_program(const Extents& extents, const Arrangement& from, const Arrangement& to) {
  Program program;
  const auto port = [&extents](Role role, const Arrangement& arrangement) {
    return TensorInfo{.role = role, .type = arrangement.element, .extents = extents, .layout = arrangement.layout};
  };
  program.tensors = {port(Role::kInput, from), port(Role::kOutput, to)};
  if (goes_by_f32(extents, from, to)) {
    const Arrangement between{.layout = from.element == ElementType::kFloat32 ? to.layout : from.layout};
    program.tensors.push_back(port(Role::kTemporary, between));
    program.ops = {{.kind = OpKind::kReorder, .inputs = {0}, .output = 2},
                   {.kind = OpKind::kReorder, .inputs = {2}, .output = 1}};
    return program;
  }
  program.ops = {{.kind = OpKind::kReorder, .inputs = {0}, .output = 1}};
  return program;
}

}  // namespace collage::onednn
