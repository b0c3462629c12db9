// Heads whose programs are one operation with little to decide.
#include <algorithm>

#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

/// Source, operation, chain and output of a head that keeps the layout.
Lowering add_plainly(Composer& composer, const Analysis& analysis, const Choice& choice, Op op, const Extents& out) {
  op.inputs.insert(op.inputs.begin(), composer.input(analysis.source, composer.extents(analysis.source), choice.in));
  op.output = composer.output(out, choice.out);
  if (auto ok = append_steps(composer, op, analysis.chain.steps, 0, out, choice.out); !ok) return ok;
  composer.add(std::move(op));
  return {};
}

Extents one_pixel(const Extents& in) {
  Extents out(in.size(), 1);
  out[0] = in[0];
  out[1] = in[1];
  return out;
}

/// A copy for each part: many times faster than the library's own operation, above all in blocks.
Lowering lower_concat_by_parts(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const Extents out = composer.extents(analysis.head_result);
  const auto axis = static_cast<std::size_t>(analysis.as<ConcatHead>().axis);
  const bool blocked = choice.in == Layout::kBlocked;
  if (blocked && axis != 1) return refuse_lowering(RefusalReason::kFormat, "blocks are joined along channels only");
  // How many times the parts follow one another in memory.
  std::int64_t times = choice.in == Layout::kChannelsLast && axis != 0 ? out[0] : 1;
  if (choice.in == Layout::kChannelsLast && axis == 1) times = element_count(out) / out[1];
  for (std::size_t i = choice.in == Layout::kChannelsLast ? 2 : 0; i < axis; ++i) times *= out[i];
  const std::int64_t total = element_count(out) / times;
  std::int64_t offset = 0;
  for (const ValueId id : analysis.node->inputs) {
    const Extents extents = composer.extents(id);
    if (composer.is_constant(id)) return refuse_lowering(RefusalReason::kStructure, "a constant part");
    if (blocked && extents[1] % native_block() != 0)
      return refuse_lowering(RefusalReason::kFormat, "channels that do not fill blocks");
    const Extents seen = {times, element_count(extents) / times};
    const int from = composer.view(id, port_format(extents, choice.in), seen);
    const int to = composer.output_view(port_format(out, choice.in), seen, {total, 1}, offset);
    composer.add({.kind = OpKind::kReorder, .inputs = {from}, .output = to});
    offset += seen[1];
  }
  return {};
}

}  // namespace

Lowering lower_pooling(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const PoolingFacts& facts = analysis.as<PoolingFacts>();
  const Window& window = facts.window;
  Op op{.kind = OpKind::kPooling,
        .algorithm = facts.algorithm,
        .kernel = window.kernel,
        .strides = window.strides,
        .begin = window.begin,
        .end = window.end,
        .family = choice.family};
  if (facts.factor != 1.F)
    op.post.push_back({.kind = PostOp::Kind::kEltwise, .algorithm = "linear", .alpha = facts.factor});
  const Extents in = composer.extents(facts.source);
  const Extents own = composer.extents(analysis.head_result);
  // A reduction may have dropped the pixels' axes.
  if (own.size() != in.size() && !analysis.chain.steps.empty())
    return refuse_lowering(RefusalReason::kShape, "steps after dropped axes");
  return add_plainly(composer, analysis, choice, std::move(op), own.size() == in.size() ? own : one_pixel(in));
}

Lowering lower_concat(Composer& composer, const Analysis& analysis, const Choice& choice) {
  if (!analysis.makers.empty()) return lower_join(composer, analysis, choice);
  if (choice.method == Method::kParts) return lower_concat_by_parts(composer, analysis, choice);
  const Node& node = *analysis.node;
  const Extents out = composer.extents(analysis.head_result);
  Op op{.kind = OpKind::kConcat, .axis = static_cast<int>(analysis.as<ConcatHead>().axis)};
  if (choice.in == Layout::kBlocked &&
      composer.graph().value(analysis.head_result).type.element != ElementType::kFloat32)
    return refuse_lowering(RefusalReason::kType, "blocks of other than f32");
  for (const ValueId id : node.inputs) {
    const Extents extents = composer.extents(id);
    if (choice.in == Layout::kBlocked && analysis.as<ConcatHead>().axis == 1 && extents[1] % native_block() != 0)
      return refuse_lowering(RefusalReason::kFormat, "channels that do not fill blocks");
    op.inputs.push_back(composer.is_constant(id) ? composer.constant(id, extents, {}, choice.in)
                                                 : composer.input(id, extents, choice.in));
  }
  op.output = composer.output(out, choice.out);
  composer.add(std::move(op));
  return {};
}

Lowering lower_resampling(Composer& composer, const Analysis& analysis, const Choice& choice) {
  if (analysis.as<ResamplingHead>().algorithm == "products")
    return lower_resize_by_products(composer, analysis, choice);
  return add_plainly(
      composer, analysis, choice,
      {.kind = OpKind::kResampling, .algorithm = analysis.as<ResamplingHead>().algorithm, .family = choice.family},
      composer.extents(analysis.head_result));
}

Lowering lower_softmax(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const auto& head = analysis.as<SoftmaxHead>();
  const Extents extents = composer.extents(analysis.source);
  const auto axis = static_cast<std::size_t>(head.axis);
  Op op{.kind = OpKind::kSoftmax, .algorithm = head.algorithm, .axis = static_cast<int>(axis)};
  if (choice.in != Layout::kPlain) return add_plainly(composer, analysis, choice, std::move(op), extents);
  // Three axes are all that matter: before, the axis itself, after.
  Extents seen = {1, extents[axis], 1};
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (i != axis) seen[i < axis ? 0 : 2] *= extents[i];
  op.axis = 1;
  if (seen[2] == 1) seen.pop_back();
  const int source = composer.view(analysis.source, plain(), seen);
  const int output = composer.output_view(plain(), seen);
  if (seen.size() == 2) {
    op.inputs = {source};
    op.output = output;
    composer.add(std::move(op));
  } else {
    // The library is fast only along neighbouring elements.
    const int turned = composer.temporary(seen, Layout::kChannelsLast);
    op.inputs = {turned};
    op.output = turned;
    composer.add({.kind = OpKind::kReorder, .inputs = {source}, .output = turned});
    composer.add(std::move(op));
    composer.add({.kind = OpKind::kReorder, .inputs = {turned}, .output = output});
  }
  composer.may_share(analysis.source);
  return {};
}

Lowering lower_layer_norm(Composer& composer, const Analysis& analysis, const Choice&) {
  const Node& node = *analysis.node;
  const Extents in = composer.extents(analysis.source);
  const std::int64_t count = element_count(composer.extents(node.inputs[1]));
  const Extents seen = {element_count(in) / count, count};
  Op op{.kind = OpKind::kLayerNorm, .epsilon = attribute_or<float>(node, "epsilon", 1e-5F)};
  op.inputs = {composer.view(analysis.source, plain(), seen), composer.constant(node.inputs[1], {count})};
  if (input_of(node, 2).valid()) op.inputs.push_back(composer.constant(node.inputs[2], {count}));
  op.output = composer.output_view(plain(), seen);
  composer.add(std::move(op));
  composer.may_share(analysis.source);
  return {};
}

Lowering lower_batch_norm(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const Node& node = *analysis.node;
  Op op{.kind = OpKind::kBatchNorm, .epsilon = attribute_or<float>(node, "epsilon", 1e-5F)};
  for (std::size_t i = 1; i < 5; ++i)
    op.inputs.push_back(composer.constant(node.inputs[i], composer.extents(node.inputs[i])));
  return add_plainly(composer, analysis, choice, std::move(op), composer.extents(analysis.source));
}

Lowering lower_reduction(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const auto& head = analysis.as<ReductionHead>();
  const Extents in = composer.extents(analysis.source);
  Extents kept = in;
  for (const std::int64_t axis : head.axes) kept[static_cast<std::size_t>(axis)] = 1;
  const std::vector<Extents> joined = joined_axes({in, kept});
  const bool is_norm = head.algorithm.starts_with("norm");
  const bool is_square = analysis.node->op_type != "ReduceL1";
  Op op{.kind = OpKind::kReduction, .algorithm = head.algorithm, .family = choice.family};
  if (is_norm) op.alpha = is_square ? 2.F : 1.F;
  if (joined[0] == joined[1]) return refuse_lowering(RefusalReason::kShape, "nothing to reduce");
  op.inputs = {composer.view(analysis.source, plain(), joined[0])};
  op.output = composer.output_view(plain(), joined[1]);
  for (const Step& step : analysis.chain.steps) {
    if (step.operand.valid()) return refuse_lowering(RefusalReason::kStructure, "a tensor after a reduction");
    op.post.push_back(post_of(step, -1));
  }
  composer.add(std::move(op));
  return {};
}

Lowering lower_lrn(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const Node& node = *analysis.node;
  return add_plainly(composer, analysis, choice,
                     {.kind = OpKind::kLrn,
                      .axis = static_cast<int>(attribute_or<std::int64_t>(node, "size", 1)),
                      .alpha = attribute_or<float>(node, "alpha", 1e-4F),
                      .beta = attribute_or<float>(node, "beta", 0.75F),
                      .epsilon = attribute_or<float>(node, "bias", 1.F)},
                     composer.extents(analysis.source));
}

}  // namespace collage::onednn
