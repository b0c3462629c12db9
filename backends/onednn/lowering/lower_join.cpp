// Convolutions that write to their places in the result of a Concat. In blocks the channels of one image follow one
// another, so every part is dense.
#include <algorithm>
#include <map>

#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

/// The part of the result where a value belongs.
int place_of(Composer& composer, const Analysis& join, ValueId part, int result) {
  std::int64_t offset = 0;
  for (const ValueId id : join.node->inputs) {
    if (id == part) break;
    offset += element_count(composer.extents(id));
  }
  return composer.part(result, composer.extents(part), {}, offset);
}

bool is_part(const Analysis& join, ValueId id) {
  return std::ranges::find(join.node->inputs, id) != join.node->inputs.end();
}

bool is_made_here(const Analysis& join, ValueId id) {
  return std::ranges::any_of(join.makers, [id](const Analysis& maker) { return maker.chain.result == id; });
}

/// The copies of parts that come from outside.
void copy_others(Composer& composer, const Analysis& join, int result) {
  std::int64_t offset = 0;
  for (const ValueId id : join.node->inputs) {
    const Extents extents = composer.extents(id);
    const Extents seen = {element_count(extents)};
    if (!is_made_here(join, id)) {
      const int from = composer.view(id, port_format(extents, Layout::kBlocked), seen);
      const int to = composer.part(result, seen, {1}, offset);
      composer.add({.kind = OpKind::kReorder, .inputs = {from}, .output = to});
    }
    offset += seen[0];
  }
}

}  // namespace

bool fills_blocks_in_parts(const Graph& graph, const Analysis& join) {
  return std::ranges::all_of(join.node->inputs, [&](ValueId id) {
    const Extents extents = graph.value(id).type.extents();
    return extents.size() >= 3 && extents.size() <= 5 && !is_one_pixel(extents) && extents[1] % native_block() == 0 &&
           !graph.value(id).constant;
  });
}

Lowering lower_join(Composer& composer, const Analysis& join, const Choice& choice) {
  const int result = composer.output(composer.extents(join.head_result), Layout::kBlocked);
  std::map<ValueId, int> made;
  for (const Analysis& maker : join.makers) {
    const ConvolutionFacts& facts = convolution_of(maker);
    const auto inner = made.find(facts.source);
    const int source = inner != made.end() ? inner->second : composer.input(facts.source, facts.in, Layout::kBlocked);
    const ValueId value = maker.chain.result;
    const int output = is_part(join, value) ? place_of(composer, join, value, result)
                                            : composer.temporary(facts.out, Layout::kBlocked);
    made[value] = output;
    const std::string family = facts.is_depthwise()    ? "jit_dw"
                               : is_pointwise(facts)   ? "jit_1x1"
                               : suits_winograd(facts) ? choice.family
                                                       : "jit";
    auto op = convolution_op(composer, maker, family, Layout::kBlocked, source, output);
    if (!op) return std::unexpected(op.error());
    composer.add(std::move(*op));
  }
  copy_others(composer, join, result);
  return {};
}

}  // namespace collage::onednn
