#include "lowering/lower_parts.h"

#include <algorithm>

namespace collage::onednn {
namespace {

bool all_are(const Extents& extents, std::int64_t number) {
  return std::ranges::all_of(extents, [number](std::int64_t extent) { return extent == number; });
}

}  // namespace

bool suits_winograd(const ConvolutionFacts& facts) {
  return facts.in.size() == 4 && facts.groups == 1 && all_are(facts.window.kernel, 3) &&
         all_are(facts.window.strides, 1) && all_are(facts.window.dilations, 0);
}

std::int64_t groups_in_block(const ConvolutionFacts& facts) {
  const std::int64_t width = facts.in_channels() / facts.groups;
  const bool fits = facts.groups > 1 && width > 1 && facts.out_channels() == facts.in_channels() &&
                    width < native_block() && native_block() % width == 0 && facts.in_channels() % native_block() == 0;
  return fits ? native_block() / width : 1;
}

bool is_pointwise(const ConvolutionFacts& facts) {
  return all_are(facts.window.kernel, 1) && all_are(facts.window.begin, 0) && all_are(facts.window.end, 0);
}

bool has_one_axis(const Extents& extents) {
  return std::ranges::count_if(extents, [](std::int64_t extent) { return extent > 1; }) <= 1;
}

std::expected<int, Refusal> operand_of(Composer& composer, ValueId id, const Extents& result, Layout layout) {
  const Extents own = composer.extents(id);
  const Extents extents = aligned(own, result.size());
  // The library pairs blocked tensors only with blocked ones.
  const bool by_channel = layout == Layout::kBlocked && is_one_pixel(extents) && extents[1] > 1;
  if (composer.is_constant(id)) {
    const bool keeps = extents == result || by_channel || layout == Layout::kChannelsLast;
    return composer.constant(id, extents, {}, keeps ? layout : Layout::kPlain);
  }
  if (by_channel) return composer.input(id, extents, layout);
  if (extents == result && own.size() == result.size()) return composer.input(id, extents, layout);
  if (has_one_axis(own)) return composer.view(id, plain(), extents, row_major_strides(extents));
  if (layout == Layout::kPlain) return composer.view(id, plain(), extents, row_major_strides(extents));
  if (layout == Layout::kChannelsLast && own.size() == result.size()) return composer.input(id, extents, layout);
  return refuse_lowering(RefusalReason::kFormat, "an operand that has no such layout");
}

PostOp post_of(const Step& step, int operand) {
  return {.kind = step.kind, .algorithm = step.algorithm, .alpha = step.alpha, .beta = step.beta, .tensor = operand};
}

Lowering append_steps(Composer& composer, Op& op, const std::vector<Step>& steps, std::size_t first,
                      const Extents& result, Layout layout) {
  for (std::size_t i = first; i < steps.size(); ++i) {
    const Step& step = steps[i];
    int tensor = -1;
    if (step.operand.valid()) {
      const auto operand = operand_of(composer, step.operand, result, layout);
      if (!operand) return std::unexpected(operand.error());
      tensor = *operand;
    }
    op.post.push_back(post_of(step, tensor));
  }
  return {};
}

std::vector<Extents> joined_axes(const std::vector<Extents>& tensors) {
  const Extents& shape = tensors[0];
  std::vector<Extents> joined(tensors.size());
  std::vector<bool> last;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    std::vector<bool> runs;
    for (const Extents& tensor : tensors) runs.push_back(tensor[axis] != 1);
    const bool joins = !joined[0].empty() && runs == last;
    for (std::size_t t = 0; t < tensors.size(); ++t)
      if (joins)
        joined[t].back() *= tensors[t][axis];
      else
        joined[t].push_back(tensors[t][axis]);
    last = runs;
  }
  if (joined[0].empty())
    for (Extents& extents : joined) extents.push_back(1);
  return joined;
}

}  // namespace collage::onednn
