#include "compiler/analysis/attention_form.h"

#include <cmath>

#include "compiler/analysis/composite.h"

namespace collage::native {
namespace {

Refusal no(RefusalReason reason, std::string detail) { return {reason, std::move(detail)}; }

/// [batch, heads, length, size] of an operand of ONNX's Attention of rank 4, or of rank 3 with heads side by side.
Strided operand(const Site& site, ValueId id, std::int64_t heads) {
  const Extents own = site.extents(id);
  const Extents strides = strides_of(own, plain());
  if (own.size() == 4) return aligned_to({id, own, strides}, 4);
  const std::int64_t size = own[2] / heads;
  return aligned_to({id, {own[0], heads, own[1], size}, {strides[0], size, strides[1], 1}}, 4);
}

std::expected<AttentionForm, Refusal> onnx_attention(const Site& site) {
  const Node& node = *site.anchor;
  const auto number = [&](std::string_view name, std::int64_t otherwise) {
    return attribute_or<std::int64_t>(node, name, otherwise);
  };
  for (std::size_t i = 4; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid()) return std::unexpected(no(RefusalReason::kStructure, "a cache of keys"));
  if (number("left_window_size", -1) != -1 || number("right_window_size", -1) != -1)
    return std::unexpected(no(RefusalReason::kAttribute, "a window of keys"));
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i].valid()) return std::unexpected(no(RefusalReason::kStructure, "more than one output"));
  const Extents q = site.extents(node.inputs[0]);
  const Extents k = site.extents(node.inputs[1]);
  const std::int64_t heads = q.size() == 4 ? q[1] : number("q_num_heads", 1);
  const std::int64_t key_heads = k.size() == 4 ? k[1] : number("kv_num_heads", 1);
  if (heads < 1 || key_heads < 1 || heads % key_heads != 0)
    return std::unexpected(no(RefusalReason::kShape, "heads that share no keys evenly"));
  AttentionForm form;
  form.queries = operand(site, node.inputs[0], heads);
  form.keys = operand(site, node.inputs[1], key_heads);
  form.values = operand(site, node.inputs[2], key_heads);
  form.batch = {form.queries.extents[0], heads};
  form.rows = form.queries.extents[2];
  form.depth = form.queries.extents[3];
  form.columns = form.keys.extents[2];
  form.width = form.values.extents[3];
  form.share = heads / key_heads;
  form.factor = attribute_or<float>(node, "scale", 1.F / std::sqrt(static_cast<float>(form.depth)));
  form.result = node.outputs[0];
  form.result_strides = operand(site, form.result, heads).strides;
  form.is_moved = q.size() == 3;
  form.nodes = NodeSet(site.graph.nodes.size());
  const ValueId mask = input_of(node, 3);
  if (!mask.valid()) return form;
  const Extents own = site.extents(mask);
  if (own.empty() || own.back() != form.columns || !broadcasts_to(own, form.scores()))
    return std::unexpected(no(RefusalReason::kShape, "a mask of fewer keys"));
  return form;
}

}  // namespace

Extents AttentionForm::scores() const {
  Extents all = batch;
  all.push_back(rows);
  all.push_back(columns);
  return all;
}

Strided aligned_to(const Strided& from, std::size_t rank) {
  Strided to{.source = from.source, .extents = aligned(from.extents, rank), .strides = aligned(from.strides, rank)};
  for (std::size_t i = 0; i < rank; ++i)
    if (to.extents[i] == 1) to.strides[i] = 0;
  return to;
}

std::optional<Extents> regrouped(const Extents& from, const Extents& strides, const Extents& to) {
  Extents out(to.size(), 0);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() || j < to.size()) {
    const std::size_t first_from = i;
    const std::size_t first_to = j;
    std::int64_t have = i < from.size() ? from[i++] : 1;
    std::int64_t want = j < to.size() ? to[j++] : 1;
    while (have != want) {
      if (have < want ? i == from.size() : j == to.size()) return std::nullopt;
      if (have < want)
        have *= from[i++];
      else
        want *= to[j++];
    }
    std::int64_t stride = 0;
    std::int64_t inner = 1;  // elements of the group inside of what was looked at
    for (std::size_t at = i; at-- > first_from;) {
      if (from[at] == 1) continue;
      if (inner == 1)
        stride = strides[at];
      else if (strides[at] != stride * inner)
        return std::nullopt;
      inner *= from[at];
    }
    std::int64_t next = stride;
    for (std::size_t at = j; at-- > first_to;) {
      out[at] = to[at] == 1 ? 0 : next;
      next *= to[at];
    }
  }
  return out;
}

std::expected<AttentionForm, Refusal> attention_of(const Site& site) {
  const auto refused = [](RefusalReason reason, std::string detail) {
    return std::unexpected(no(reason, std::move(detail)));
  };
  if (site.composite == nullptr) {
    const auto form = onnx_attention(site);
    if (!form) return form;
    for (const ValueId id : {form->queries.source, form->keys.source, form->values.source})
      if (site.type(id).element != ElementType::kFloat32) return refused(RefusalReason::kType, "not f32");
    return form;
  }
  auto form = written_attention(site.graph, site.region);
  COLLAGE_CHECK(form.has_value(), "an attention that was there");
  for (const ValueId id : {form->queries.source, form->keys.source, form->values.source, form->result})
    if (site.type(id).element != ElementType::kFloat32) return refused(RefusalReason::kType, "not f32");
  return *form;
}

}  // namespace collage::native
