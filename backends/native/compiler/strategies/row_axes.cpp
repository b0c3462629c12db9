// Which axes a row of a reduction, softmax or norm runs along.
#include <algorithm>
#include <set>

#include "compiler/strategies/rows.h"

namespace collage::native {
namespace {

bool is_reduction(const Node& node) { return node.op_type.starts_with("Reduce") || node.op_type.starts_with("Global"); }

/// The ONNX axes that the anchor reduces, ascending; nothing when they are computed.
std::optional<std::vector<std::size_t>> reduced_axes(const Site& site) {
  const Node& node = *site.anchor;
  const std::size_t rank = site.extents(node.inputs[0]).size();
  std::set<std::size_t> axes;
  const auto from = [&](std::size_t first) {
    for (std::size_t i = first; i < rank; ++i) axes.insert(i);
  };
  if (node.op_type.starts_with("Global") || node.op_type == "InstanceNormalization") {
    from(2);
  } else if (node.op_type == "LayerNormalization" || node.op_type == "RMSNormalization") {
    from(static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(node, "axis", -1), rank)));
  } else if (node.op_type == "MeanVarianceNormalization") {
    for (const std::int64_t axis : attribute_or<Extents>(node, "axes", {0, 2, 3}))
      axes.insert(static_cast<std::size_t>(from_front(axis, rank)));
  } else if (node.op_type.starts_with("Reduce")) {
    const ValueId id = input_of(node, 1);
    const Tensor* given = constant_of(site.graph, id);
    if (id.valid() && given == nullptr) return std::nullopt;
    const Extents list = given != nullptr ? *integers_of(*given) : Extents{};
    for (const std::int64_t axis : list) axes.insert(static_cast<std::size_t>(from_front(axis, rank)));
    if (list.empty() && attribute_or<std::int64_t>(node, "noop_with_empty_axes", 0) == 0) from(0);
  } else {
    axes.insert(static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(node, "axis", -1), rank)));
  }
  return std::vector<std::size_t>(axes.begin(), axes.end());
}

}  // namespace

std::optional<Rows> rows_of(const Site& site, const Format& format) {
  const Extents extents = site.extents(site.anchor->inputs[0]);
  const auto axes = reduced_axes(site);
  if (!axes || axes->empty()) return std::nullopt;
  const auto is_reduced = [&](std::size_t axis) { return std::ranges::find(*axes, axis) != axes->end(); };
  Rows rows{.space = {.result = extents, .axes = {}}, .reduced = SIZE_MAX, .result = {}};
  rows.is_reduction = is_reduction(*site.anchor);
  std::vector<std::size_t> reduced;
  std::vector<std::size_t> inner;
  for (const std::size_t axis : memory_order(extents.size(), format)) {
    if (is_reduced(axis)) {
      if (!inner.empty()) return std::nullopt;
      reduced.push_back(axis);
    } else if (reduced.empty()) {
      rows.space.axes.push_back({axis});
    } else if (extents[axis] > 1) {
      inner.push_back(axis);
    }
  }
  rows.reduced = rows.space.axes.size();
  rows.space.axes.push_back(reduced);
  if (!inner.empty()) rows.space.axes.push_back(inner);
  rows.result = rows.space;
  if (!rows.is_reduction) return rows;
  // A result that keeps its axes has extent 1 there; one that does not counts the others anew.
  rows.result.result = site.extents(site.result());
  const bool keeps = rows.result.result.size() == extents.size();
  for (auto& group : rows.result.axes) {
    std::vector<std::size_t> renamed;
    for (const std::size_t axis : group) {
      if (is_reduced(axis)) continue;
      const auto gone = keeps ? 0 : std::ranges::count_if(*axes, [&](std::size_t one) { return one < axis; });
      renamed.push_back(axis - static_cast<std::size_t>(gone));
    }
    group = renamed;
  }
  return rows;
}

Format format_in(const Site& site, Layout layout) {
  const bool follows = layout == Layout::kChannelsLast && can_be_channels_last(site.type(site.anchor->inputs[0]));
  return follows ? channels_last() : plain();
}

}  // namespace collage::native
