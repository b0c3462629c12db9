// Convolutions and their transposes, with what follows them.
#include <algorithm>

#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

std::int64_t product(const Extents& extents) { return element_count(extents); }

/// Weights as the library orders them: [groups,] out, in, window; the groups only when there are some.
int weights_of(Composer& composer, const ConvolutionFacts& facts, bool transposed) {
  const std::int64_t groups = facts.groups;
  const std::int64_t out = facts.out_channels() / groups;
  const std::int64_t in = facts.in_channels() / groups;
  const Extents& window = facts.window.kernel;
  Extents extents = {out, in};
  extents.insert(extents.end(), window.begin(), window.end());
  Extents strides = row_major_strides(extents);
  if (transposed) {
    strides[0] = product(window);
    strides[1] = out * product(window);
  }
  if (groups > 1) {
    extents.insert(extents.begin(), groups);
    strides.insert(strides.begin(), out * in * product(window));
  }
  return composer.constant(facts.weights, extents, strides);
}

/// Weights of groups joined to whole blocks: [blocks, out, in, window], zero where out and in belong to other groups.
int merged_weights_of(Composer& composer, const ConvolutionFacts& facts) {
  const std::int64_t block = native_block();
  const std::int64_t joined = groups_in_block(facts);
  const std::int64_t width = block / joined;
  const std::int64_t window = product(facts.window.kernel);
  const std::int64_t blocks = facts.groups / joined;
  Extents extents = {blocks, block, block};
  extents.insert(extents.end(), facts.window.kernel.begin(), facts.window.kernel.end());
  const std::int64_t row = width * window;
  return composer.gathered(facts.weights, {blocks, joined, width, joined, width, window},
                           {block * row, width * row, row, 0, window, 1}, std::move(extents), {1, 3});
}

/// The step that adds a computed tensor of the result's shape which nothing else in the region reads.
std::size_t residual_step(const Composer& composer, const std::vector<Step>& steps, const Extents& out) {
  const auto found = std::ranges::find_if(steps, [&](const Step& step) {
    return step.algorithm == "add" && step.operand.valid() && !composer.is_constant(step.operand) &&
           composer.extents(step.operand) == out && composer.reads(step.operand) == 1;
  });
  return static_cast<std::size_t>(found - steps.begin());
}

/// The result accumulates onto the residual in place; when the plan keeps them apart the residual is copied first.
Lowering add_in_place(Composer& composer, Op& op, ValueId residual, std::size_t post, const Choice& choice,
                      const Extents& out) {
  const int source = composer.input(residual, out, choice.out);
  if (!composer.output_is_direct() || composer.tensor(source).role != Role::kInput)
    return refuse_lowering(RefusalReason::kFormat, "the residual is not in the result's format");
  op.post[post] = {.kind = PostOp::Kind::kSum};
  composer.add({.kind = OpKind::kReorder, .inputs = {source}, .output = op.output, .only_if_apart = true});
  composer.may_share(residual);
  return {};
}

/// A convolution of one pixel by one pixel as a product of [batch, in] with [out, in].
Lowering lower_inner_product(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const ConvolutionFacts& facts = convolution_of(analysis);
  const Extents result = {facts.out[0], facts.out[1]};
  Op op{.kind = OpKind::kInnerProduct, .family = choice.family};
  op.inputs = {composer.view(facts.source, plain(), {facts.in[0], facts.in[1]}),
               composer.constant(facts.weights, {facts.out[1], facts.in[1]})};
  if (facts.bias.valid()) op.inputs.push_back(composer.constant(facts.bias, {facts.out[1]}));
  for (const Step& step : analysis.chain.steps) {
    int operand = -1;
    if (step.operand.valid()) {
      Extents extents = aligned(composer.extents(step.operand), facts.out.size());
      extents.resize(2);
      operand = composer.is_constant(step.operand) ? composer.constant(step.operand, extents)
                                                   : composer.view(step.operand, plain(), extents);
    }
    op.post.push_back(post_of(step, operand));
  }
  op.output = composer.output_view(plain(), result);
  composer.add(std::move(op));
  return {};
}

/// A depthwise 3x3 convolution as a post-op of the pointwise one before it.
Lowering append_second(Composer& composer, const Analysis& analysis, Op& op) {
  const ConvolutionFacts& second = second_of(analysis)->facts;
  const Window& window = second.window;
  const bool fits = window.kernel == Extents{3, 3} && window.strides[0] == window.strides[1] &&
                    window.begin == Extents{1, 1} && window.dilations == Extents{0, 0} && second.bias.valid();
  if (!fits) return refuse_lowering(RefusalReason::kAttribute, "only 3x3 depthwise with bias is fused");
  for (const Step& step : second_of(analysis)->before.steps) {
    if (step.operand.valid()) return refuse_lowering(RefusalReason::kStructure, "a tensor between the convolutions");
    op.post.push_back(post_of(step, -1));
  }
  op.post.push_back({.kind = PostOp::Kind::kDepthwise,
                     .tensor = weights_of(composer, second, false),
                     .second = composer.constant(second.bias, {second.out[1]}),
                     .kernel = 3,
                     .stride = static_cast<int>(window.strides[0]),
                     .padding = 1});
  return {};
}

/// The library adds the bias of a transposed convolution, and all that follows, with reference code: they are another
/// operation on the result in place.
void add_apart(Composer& composer, Op op, const ConvolutionFacts& facts, Layout layout) {
  std::vector<PostOp> rest = std::move(op.post);
  op.post.clear();
  if (facts.bias.valid() && facts.out[1] == 1) {
    // One number for all; the library adds it slowly as a tensor.
    const float number = composer.graph().value(facts.bias).constant->data.as<float>()[0];
    rest.insert(rest.begin(), {.kind = PostOp::Kind::kEltwise, .algorithm = "linear", .alpha = 1.F, .beta = number});
  } else if (facts.bias.valid()) {
    Extents extents(facts.out.size(), 1);
    extents[1] = facts.out[1];
    const int bias = composer.constant(facts.bias, extents, {}, layout);
    rest.insert(rest.begin(), {.kind = PostOp::Kind::kBinary, .algorithm = "add", .tensor = bias});
  }
  const int output = op.output;
  composer.add(std::move(op));
  if (!rest.empty()) composer.add(operation_of(rest, output, output));
}

}  // namespace

bool is_bias(const Graph& graph, const Step& step, const Extents& out) {
  if (step.algorithm != "add" || !step.operand.valid() || !graph.value(step.operand).constant) return false;
  const Extents extents = aligned(graph.value(step.operand).type.extents(), out.size());
  return extents[1] == out[1] && element_count(extents) == out[1];
}

std::expected<Op, Refusal> convolution_op(Composer& composer, const Analysis& analysis, const std::string& family,
                                          Layout layout, int source, int output) {
  const ConvolutionFacts& facts = convolution_of(analysis);
  const std::vector<Step>& steps = analysis.chain.steps;
  Op op{.kind = OpKind::kConvolution,
        .output = output,
        .strides = facts.window.strides,
        .dilations = facts.window.dilations,
        .begin = facts.window.begin,
        .end = facts.window.end,
        .family = family};
  op.inputs = {source, weights_of(composer, facts, false)};
  std::size_t first = 0;
  if (facts.bias.valid()) {
    op.inputs.push_back(composer.constant(facts.bias, {facts.out[1]}));
  } else if (!steps.empty() && is_bias(composer.graph(), steps[0], facts.out)) {
    op.inputs.push_back(composer.constant(steps[0].operand, {facts.out[1]}));
    first = 1;
  }
  if (auto ok = append_steps(composer, op, steps, first, facts.out, layout); !ok) return std::unexpected(ok.error());
  return op;
}

Lowering lower_convolution(Composer& composer, const Analysis& analysis, const Choice& choice) {
  if (choice.method == Method::kInnerProduct) return lower_inner_product(composer, analysis, choice);
  if (choice.method == Method::kStrips) return lower_series(composer, analysis, choice);
  if (choice.method == Method::kSeparateBlocks) return lower_separate_blocks(composer, analysis, choice);
  const ConvolutionFacts& facts = convolution_of(analysis);
  const bool transposed = analysis.is<DeconvolutionHead>();
  const std::vector<Step>& steps = analysis.chain.steps;
  const SecondConvolution* const second = second_of(analysis);
  const Extents result = second != nullptr ? second->facts.out : facts.out;
  Op op{.kind = transposed ? OpKind::kDeconvolution : OpKind::kConvolution,
        .strides = facts.window.strides,
        .dilations = facts.window.dilations,
        .begin = facts.window.begin,
        .end = facts.window.end,
        .family = choice.family};
  op.inputs = {composer.input(facts.source, facts.in, choice.in), choice.method == Method::kMergedGroups
                                                                      ? merged_weights_of(composer, facts)
                                                                      : weights_of(composer, facts, transposed)};
  std::size_t first = 0;
  if (facts.bias.valid() && !transposed) {
    op.inputs.push_back(composer.constant(facts.bias, {facts.out[1]}));
  } else if (!transposed && second == nullptr && !analysis.bytes && !steps.empty() &&
             is_bias(composer.graph(), steps[0], facts.out)) {
    op.inputs.push_back(composer.constant(steps[0].operand, {facts.out[1]}));
    first = 1;
  }
  if (second != nullptr)
    if (auto ok = append_second(composer, analysis, op); !ok) return ok;
  op.output = composer.output(result, choice.out);
  const std::size_t before = op.post.size();
  if (auto ok = append_steps(composer, op, steps, first, result, choice.out); !ok) return ok;
  if (analysis.bytes) add_byte_numbers(composer, *analysis.bytes, op, {facts.out[1]});
  if (transposed) {
    add_apart(composer, std::move(op), facts, choice.out);
    return {};
  }
  if (choice.adds_in_place) {
    const std::size_t residual = residual_step(composer, steps, result);
    const std::size_t post = before + residual - first;
    if (auto ok = add_in_place(composer, op, steps[residual].operand, post, choice, result); !ok) return ok;
  }
  composer.add(std::move(op));
  return {};
}

}  // namespace collage::onednn
