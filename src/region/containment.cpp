#include "region/containment.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <set>
#include <string_view>

#include "base/pages.h"
#include "region/memory_order.h"

namespace collage {
namespace {

/// Channels in one block of a format like "owner:nChw16c"; nothing for other formats.
std::optional<std::int64_t> channel_block(const Format& format) {
  constexpr std::string_view kBlocked = ":nChw";
  const std::string name = format.full().name;
  const std::size_t at = name.find(kBlocked);
  if (at == std::string::npos || !name.ends_with('c')) return std::nullopt;
  const char* const begin = name.data() + at + kBlocked.size();
  const char* const end = name.data() + name.size() - 1;
  std::int64_t block = 0;
  const auto [rest, error] = std::from_chars(begin, end, block);
  if (error != std::errc() || rest != end || block < 1) return std::nullopt;
  return block;
}

/// Elements before a box in a dense tensor of `whole`; nothing when the box is not one run of elements.
std::optional<std::int64_t> run_start(Extents whole, Extents box, Extents starts, const Format& format) {
  std::int64_t start = 0;
  std::int64_t stride = 1;
  bool is_cut = false;
  if (const auto block = channel_block(format)) {
    // An axis of blocks in place of the channels, and one inside the blocks, which every box of whole blocks spans.
    for (Extents* extents : {&whole, &box, &starts}) {
      if ((*extents)[1] % *block != 0) return std::nullopt;
      (*extents)[1] /= *block;
    }
    stride = *block;
  }
  std::vector<std::size_t> order = memory_order(whole.size(), format);
  for (const std::size_t axis : order | std::views::reverse) {
    if (is_cut && box[axis] != 1) return std::nullopt;
    is_cut = is_cut || box[axis] != whole[axis];
    start += starts[axis] * stride;
    stride *= whole[axis];
  }
  return start;
}

/// Collects the parts of one whole.
class Collector {
 public:
  Collector(const Graph& graph, ValueId whole, const Format& format)
      : graph_(graph), format_(format), containment_{.whole = whole, .parts = {}} {}

  [[nodiscard]] bool fits() const { return has_common_layout(containment_.whole); }

  /// False when the part is no run of bytes that a buffer can start at.
  bool add(ValueId part, const Extents& starts) {
    if (!part.valid() || !has_common_layout(part)) return false;
    const ValueType& type = graph_.value(part).type;
    const Extents whole = graph_.value(containment_.whole).type.extents();
    if (type.extents().size() != whole.size()) return false;
    for (std::size_t axis = 0; axis < whole.size(); ++axis)
      if (starts[axis] < 0 || starts[axis] + type.extents()[axis] > whole[axis]) return false;
    const auto start = run_start(whole, type.extents(), starts, format_);
    if (!start) return false;
    const std::size_t offset = byte_count(stored_element(type, format_), {*start});
    if (offset % kBufferAlignment != 0) return false;
    containment_.parts.push_back({.value = part, .offset = offset});
    return true;
  }

  std::optional<Containment> take() {
    if (containment_.parts.empty()) return std::nullopt;
    return std::move(containment_);
  }

 private:
  [[nodiscard]] bool has_common_layout(ValueId id) const {
    const ValueType& type = graph_.value(id).type;
    if (!type.is_static() || bits_of(type.element) == 0 || bits_of(type.element) % 8 != 0) return false;
    if (element_count(type.extents()) == 0) return false;
    if (format_.narrow() && type.element != ElementType::kFloat32) return false;
    const bool is_blocked = channel_block(format_) && can_be_channels_last(type);
    return is_blocked || can_have_common_format(type, format_);
  }

  const Graph& graph_;
  const Format& format_;
  Containment containment_;
};

/// The axis of a Concat or Split; nothing when the whole has no such axis.
std::optional<std::size_t> axis_of(const Node& node, std::size_t rank) {
  const auto axis = attribute_or<std::int64_t>(node, "axis", 0);
  const std::int64_t from_front = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (from_front < 0 || from_front >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::size_t>(from_front);
}

bool has_no_elements(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  return type.is_static() && element_count(type.extents()) == 0;
}

/// Parts that follow one another along an axis, as those of Concat and Split do.
std::optional<Containment> in_a_row(const Graph& graph, const Node& node, ValueId whole,
                                    const std::vector<ValueId>& parts, bool skip_empty, const Format& format) {
  Collector collector(graph, whole, format);
  if (!collector.fits()) return std::nullopt;
  Extents starts(graph.value(whole).type.extents().size(), 0);
  const auto axis = axis_of(node, starts.size());
  if (!axis) return std::nullopt;
  for (const ValueId part : parts) {
    if (skip_empty && part.valid() && has_no_elements(graph, part)) continue;
    if (!collector.add(part, starts)) return std::nullopt;
    starts[*axis] += graph.value(part).type.extents()[*axis];
  }
  return collector.take();
}

/// The constant integers of an operand, `fallback` when it is left out, nothing when it is computed.
std::optional<std::vector<std::int64_t>> integers_at(const Graph& graph, const Node& node, std::size_t operand,
                                                     std::vector<std::int64_t> fallback) {
  const ValueId id = input_of(node, operand);
  if (!id.valid()) return fallback;
  const Tensor* constant = constant_of(graph, id);
  return constant == nullptr ? std::nullopt : integers_of(*constant);
}

std::optional<Containment> slice(const Graph& graph, const Node& node, const Format& format) {
  const ValueId whole = input_of(node, 0);
  Collector collector(graph, whole, format);
  if (!collector.fits()) return std::nullopt;
  const Extents extents = graph.value(whole).type.extents();
  const auto firsts = input_of(node, 1).valid() ? integers_at(graph, node, 1, {}) : std::nullopt;
  if (!firsts || !integers_at(graph, node, 2, {})) return std::nullopt;
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < firsts->size(); ++i) all.push_back(static_cast<std::int64_t>(i));
  const auto axes = integers_at(graph, node, 3, all);
  const auto steps = integers_at(graph, node, 4, std::vector<std::int64_t>(firsts->size(), 1));
  if (!axes || !steps || axes->size() != firsts->size() || steps->size() != firsts->size()) return std::nullopt;
  if (std::ranges::any_of(*steps, [](std::int64_t step) { return step != 1; })) return std::nullopt;
  Extents starts(extents.size(), 0);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto rank = static_cast<std::int64_t>(extents.size());
    const std::int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    if (axis < 0 || axis >= rank) return std::nullopt;
    const std::int64_t extent = extents[static_cast<std::size_t>(axis)];
    const std::int64_t first = (*firsts)[i] < 0 ? (*firsts)[i] + extent : (*firsts)[i];
    starts[static_cast<std::size_t>(axis)] = std::clamp<std::int64_t>(first, 0, extent);
  }
  // The output's extents, which shape inference computed, say how far each axis goes.
  if (!collector.add(node.outputs[0], starts)) return std::nullopt;
  return collector.take();
}

}  // namespace

std::optional<Containment> containment_of(const Graph& graph, const Node& node, const Format& format) {
  if (!node.domain.empty() || !input_of(node, 0).valid() || node.outputs.empty()) return std::nullopt;
  if (node.op_type == "Concat" && node.outputs[0].valid())
    return in_a_row(graph, node, node.outputs[0], node.inputs, true, format);
  if (node.op_type == "Split") return in_a_row(graph, node, node.inputs[0], node.outputs, false, format);
  if (node.op_type == "Slice") return slice(graph, node, format);
  return std::nullopt;
}

bool can_lie_in_place(const Graph& graph, const Node& node, const Containment& containment) {
  const bool is_joined = node.op_type == "Concat";
  const auto is_in = [](const std::vector<ValueId>& list, ValueId id) {
    return std::ranges::find(list, id) != list.end();
  };
  if (graph.value(containment.whole).constant) return false;
  std::set<ValueId> seen;
  for (const ContainedPart& part : containment.parts) {
    if (is_in(graph.outputs, part.value) || !seen.insert(part.value).second) return false;
    if (is_joined && (graph.value(part.value).constant || is_in(graph.inputs, part.value))) return false;
  }
  return true;
}

}  // namespace collage
