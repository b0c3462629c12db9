// Chains of element-wise steps without a head: one pass over memory.
#include <algorithm>

#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

/// Axes in the order in which they lie in memory.
Extents in_memory_order(const Extents& extents, Layout layout) {
  if (layout != Layout::kChannelsLast || extents.size() < 3) return extents;
  Extents ordered = {extents[0]};
  ordered.insert(ordered.end(), extents.begin() + 2, extents.end());
  ordered.push_back(extents[1]);
  return ordered;
}

/// The tensors of a chain: source, operands in step order, and where the result goes.
struct Tensors {
  int source = -1;
  std::vector<int> operands;  ///< by step; -1 where a step has none
  int output = -1;
};

/// The few-axes view is possible when no constant must be permuted and every port is dense in the layout.
bool can_join(const Composer& composer, const Analysis& analysis, const Extents& result, Layout layout) {
  if (layout == Layout::kBlocked) return false;
  if (layout == Layout::kPlain) return true;
  return std::ranges::all_of(analysis.chain.steps, [&](const Step& step) {
    if (!step.operand.valid()) return true;
    const Extents own = composer.extents(step.operand);
    return has_one_axis(own) || (!composer.is_constant(step.operand) && own.size() == result.size());
  });
}

/// Puts an axis of 1 in front when a broadcast operand runs along the first axis: the library then takes that axis for
/// the channels, which it broadcasts well.
void lead_with_one(std::vector<Extents>& tensors) {
  const bool leads =
      std::ranges::any_of(tensors, [&](const Extents& extents) { return extents != tensors[0] && extents[0] != 1; });
  if (!leads) return;
  for (Extents& extents : tensors) extents.insert(extents.begin(), 1);
}

Tensors joined_tensors(Composer& composer, const Analysis& analysis, const Extents& result, Layout layout) {
  std::vector<Extents> shapes = {in_memory_order(result, layout)};
  for (const Step& step : analysis.chain.steps)
    if (step.operand.valid())
      shapes.push_back(in_memory_order(aligned(composer.extents(step.operand), result.size()), layout));
  shapes = joined_axes(shapes);
  lead_with_one(shapes);
  Tensors tensors;
  const Format format = port_format(result, layout);
  tensors.source = composer.view(analysis.source, format, shapes[0]);
  std::size_t next = 1;
  for (const Step& step : analysis.chain.steps) {
    int operand = -1;
    if (step.operand.valid()) {
      const Extents& shape = shapes[next++];
      const Extents own = composer.extents(step.operand);
      operand = composer.is_constant(step.operand)
                    ? composer.constant(step.operand, shape)
                    : composer.view(step.operand, has_one_axis(own) ? plain() : port_format(own, layout), shape);
    }
    tensors.operands.push_back(operand);
  }
  tensors.output = composer.output_view(format, shapes[0]);
  return tensors;
}

std::expected<Tensors, Refusal> own_tensors(Composer& composer, const Analysis& analysis, const Extents& result,
                                            Layout layout) {
  Tensors tensors;
  tensors.source = composer.input(analysis.source, result, layout);
  for (const Step& step : analysis.chain.steps) {
    int operand = -1;
    if (step.operand.valid()) {
      const auto found = operand_of(composer, step.operand, result, layout);
      if (!found) return std::unexpected(found.error());
      operand = *found;
    }
    tensors.operands.push_back(operand);
  }
  tensors.output = composer.output(result, layout);
  return tensors;
}

/// The first step as an operation, the rest as its post-ops. Several activations in a row become a product with 1,
/// because products take any post-op and activations do not.
Op chain_op(Composer& composer, const std::vector<Step>& steps, const Tensors& tensors) {
  std::vector<PostOp> posts;
  for (std::size_t i = 0; i < steps.size(); ++i) posts.push_back(post_of(steps[i], tensors.operands[i]));
  const Step& first = steps[0];
  if (first.kind != PostOp::Kind::kEltwise || steps.size() == 1)
    return operation_of(posts, tensors.source, tensors.output);
  const bool scales = first.algorithm == "linear" && first.beta == 0.F;
  const TensorInfo& source = composer.tensor(tensors.source);
  const Layout layout = source.layout;
  Extents extents(source.extents.size(), 1);
  // The library pairs blocked tensors only with blocked ones: there the number is repeated for every channel.
  if (layout == Layout::kBlocked) extents[1] = source.extents[1];
  Op op{.kind = OpKind::kBinary, .algorithm = "mul", .inputs = {tensors.source}, .output = tensors.output};
  op.inputs.push_back(composer.literal(scales ? first.alpha : 1.F, extents, layout));
  op.post.assign(posts.begin() + (scales ? 1 : 0), posts.end());
  return op;
}

}  // namespace

Lowering lower_elementwise(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const Extents result = composer.extents(analysis.source);
  Tensors tensors;
  if (can_join(composer, analysis, result, choice.in)) {
    tensors = joined_tensors(composer, analysis, result, choice.in);
  } else {
    auto found = own_tensors(composer, analysis, result, choice.in);
    if (!found) return std::unexpected(found.error());
    tensors = *found;
  }
  composer.add(chain_op(composer, analysis.chain.steps, tensors));
  composer.may_share(analysis.source);
  const Step& first = analysis.chain.steps[0];
  if (first.operand.valid() && !composer.is_constant(first.operand)) composer.may_share(first.operand);
  return {};
}

}  // namespace collage::onednn
