#include "ir/operand_conditions.h"

#include <algorithm>
#include <array>
#include <optional>

namespace collage {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

using Conditions = std::vector<OperandCondition>;

/// The extent of an operand along an axis, counted from the end when negative; nothing when it is not known.
std::optional<std::int64_t> extent_of(const Graph& graph, ValueId id, std::int64_t axis) {
  if (!id.valid() || !graph.value(id).type.shape) return std::nullopt;
  const Shape& shape = *graph.value(id).type.shape;
  if (axis < 0) axis += static_cast<std::int64_t>(shape.size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size())) return std::nullopt;
  const Dim& dim = shape[static_cast<std::size_t>(axis)];
  return dim.is_static() ? std::optional(dim.extent) : std::nullopt;
}

std::optional<std::int64_t> rank_of(const Graph& graph, ValueId id) {
  if (!id.valid() || !graph.value(id).type.shape) return std::nullopt;
  return static_cast<std::int64_t>(graph.value(id).type.shape->size());
}

std::int64_t integer(const Node& node, std::string_view name, std::int64_t fallback) {
  return attribute_or<std::int64_t>(node, name, fallback);
}

/// One range for every element of an operand; unknown when the range is nothing.
Conditions within(const Node& node, std::size_t operand, std::optional<OperandRange> range) {
  const ValueId value = input_of(node, operand);
  if (!value.valid()) return {};
  OperandCondition condition{.rule = OperandRule::kRange, .value = value, .dividend = {}, .ranges = {}};
  if (range) condition.ranges = {*range};
  return {std::move(condition)};
}

/// Both ways to count.
std::optional<OperandRange> index_range(std::optional<std::int64_t> extent) {
  if (!extent) return std::nullopt;
  return OperandRange{-*extent, *extent - 1};
}

/// From the front only, up to and with the last.
std::optional<OperandRange> up_to(std::optional<std::int64_t> last) {
  if (!last) return std::nullopt;
  return OperandRange{0, *last};
}

std::optional<OperandRange> position_range(std::optional<std::int64_t> extent) {
  return extent ? up_to(*extent - 1) : std::nullopt;
}

Conditions along_axis(const Graph& graph, const Node& node) {
  return within(node, 1, index_range(extent_of(graph, input_of(node, 0), integer(node, "axis", 0))));
}

Conditions gather_blocks(const Graph& graph, const Node& node) {
  return within(node, 1, index_range(extent_of(graph, input_of(node, 0), integer(node, "gather_axis", 0))));
}

/// Tuples of indices along the last axis of operand 1, into leading axes of operand 0.
Conditions tuples(const Graph& graph, const Node& node, std::int64_t first_axis) {
  Conditions conditions = within(node, 1, std::nullopt);
  const auto depth = extent_of(graph, input_of(node, 1), -1);
  if (conditions.empty() || !depth) return conditions;
  std::vector<OperandRange> ranges;
  for (std::int64_t k = 0; k < *depth; ++k) {
    const auto range = index_range(extent_of(graph, input_of(node, 0), first_axis + k));
    if (!range) return conditions;
    ranges.push_back(*range);
  }
  // No component, no index.
  if (ranges.empty()) return {};
  conditions.front().ranges = std::move(ranges);
  return conditions;
}

Conditions gather_tuples(const Graph& graph, const Node& node) {
  return tuples(graph, node, integer(node, "batch_dims", 0));
}

Conditions scatter_tuples(const Graph& graph, const Node& node) { return tuples(graph, node, 0); }

/// Word, segment and position ids.
Conditions embedding_ids(const Graph& graph, const Node& node) {
  constexpr std::array<std::pair<std::size_t, std::size_t>, 3> kTables = {{{0, 2}, {1, 4}, {8, 3}}};
  Conditions all;
  for (const auto& [ids, table] : kTables)
    for (OperandCondition& one : within(node, ids, position_range(extent_of(graph, input_of(node, table), 0))))
      all.push_back(std::move(one));
  return all;
}

/// Positions in a table of angles: one for each element of the sequence, or one number that all are counted from.
Conditions rotation(const Graph& graph, const Node& node, std::size_t positions, std::size_t table) {
  const auto rows = extent_of(graph, input_of(node, table), 0);
  const ValueId ids = input_of(node, positions);
  const bool is_offset = rank_of(graph, ids) == 1;
  if (!is_offset) return within(node, positions, position_range(rows));
  const auto length = extent_of(graph, input_of(node, 0), rank_of(graph, input_of(node, 0)) == 4 ? 2 : 1);
  return within(node, positions, rows && length ? up_to(*rows - *length) : std::nullopt);
}

Conditions rotary(const Graph& graph, const Node& node) { return rotation(graph, node, 3, 1); }
Conditions rotary_of_vendor(const Graph& graph, const Node& node) { return rotation(graph, node, 1, 2); }

Conditions sequence_lengths(const Graph& graph, const Node& node) {
  return within(node, 4, up_to(extent_of(graph, input_of(node, 0), integer(node, "layout", 0))));
}

Conditions reversed_lengths(const Graph& graph, const Node& node) {
  return within(node, 1, up_to(extent_of(graph, input_of(node, 0), integer(node, "time_axis", 0))));
}

Conditions key_lengths(const Graph& graph, const Node& node) {
  const ValueId key = input_of(node, 1);
  return within(node, 6, up_to(extent_of(graph, key, rank_of(graph, key) == 4 ? 2 : 1)));
}

Conditions cache_positions(const Graph& graph, const Node& node) {
  if (attribute_or<std::string>(node, "mode", "linear") != "linear") return {};
  const std::int64_t axis = integer(node, "axis", -2);
  const auto room = extent_of(graph, input_of(node, 0), axis);
  const auto length = extent_of(graph, input_of(node, 1), axis);
  return within(node, 2, room && length ? up_to(*room - *length) : std::nullopt);
}

Conditions pooled_positions(const Graph& graph, const Node& node) {
  const ValueType* type = node.outputs.empty() ? nullptr : &graph.value(node.outputs[0]).type;
  if (type == nullptr || !type->is_static()) return within(node, 1, std::nullopt);
  return within(node, 1, position_range(element_count(type->extents())));
}

Conditions image_numbers(const Graph& graph, const Node& node) {
  return within(node, 2, position_range(extent_of(graph, input_of(node, 0), 0)));
}

Conditions chosen_count(const Graph& graph, const Node& node) {
  return within(node, 1, up_to(extent_of(graph, input_of(node, 0), integer(node, "axis", -1))));
}

Conditions axis_operand(const Graph& graph, const Node& node, std::size_t operand) {
  return within(node, operand, index_range(rank_of(graph, input_of(node, 0))));
}
Conditions summed_axis(const Graph& graph, const Node& node) { return axis_operand(graph, node, 1); }
Conditions transformed_axis(const Graph& graph, const Node& node) { return axis_operand(graph, node, 2); }

Conditions repeats(const Graph&, const Node& node) { return within(node, 1, OperandRange{0, kNoLimit}); }
Conditions extents(const Graph&, const Node& node) { return within(node, 0, OperandRange{0, kNoLimit}); }

Conditions one_hot_depth(const Graph& graph, const Node& node) {
  const ValueId depth = input_of(node, 1);
  if (!depth.valid() || !is_integer(graph.value(depth).type.element)) return {};
  return within(node, 1, OperandRange{1, kNoLimit});
}

Conditions not_zero(const Graph& graph, const Node& node, std::size_t operand) {
  const ValueId value = input_of(node, operand);
  if (!value.valid() || !is_integer(graph.value(value).type.element)) return {};
  return {{.rule = OperandRule::kNonZero, .value = value, .dividend = {}, .ranges = {}}};
}
Conditions steps(const Graph& graph, const Node& node) { return not_zero(graph, node, 4); }
Conditions delta(const Graph& graph, const Node& node) { return not_zero(graph, node, 2); }

/// Narrow integers wrap; the processor's division of wide ones stops the process.
bool can_overflow(ElementType type) { return type == ElementType::kInt32 || type == ElementType::kInt64; }

Conditions divisor(const Graph& graph, const Node& node) {
  Conditions conditions = not_zero(graph, node, 1);
  if (!conditions.empty() && can_overflow(graph.value(node.inputs[1]).type.element) && integer(node, "fmod", 0) == 0)
    conditions.push_back(
        {.rule = OperandRule::kNoOverflow, .value = node.inputs[1], .dividend = node.inputs[0], .ranges = {}});
  return conditions;
}

struct Asked {
  std::string_view domain;
  std::string_view op_type;
  Conditions (*conditions)(const Graph& graph, const Node& node);
};

constexpr std::string_view kVendor = "com.microsoft";

constexpr std::array kOperators = {Asked{"", "Attention", key_lengths},
                                   Asked{"", "ConstantOfShape", extents},
                                   Asked{"", "CumSum", summed_axis},
                                   Asked{"", "CumProd", summed_axis},
                                   Asked{"", "DFT", transformed_axis},
                                   Asked{"", "Div", divisor},
                                   Asked{"", "GRU", sequence_lengths},
                                   Asked{"", "Gather", along_axis},
                                   Asked{"", "GatherElements", along_axis},
                                   Asked{"", "GatherND", gather_tuples},
                                   Asked{"", "LSTM", sequence_lengths},
                                   Asked{"", "MaxUnpool", pooled_positions},
                                   Asked{"", "Mod", divisor},
                                   Asked{"", "OneHot", one_hot_depth},
                                   Asked{"", "RNN", sequence_lengths},
                                   Asked{"", "Range", delta},
                                   Asked{"", "ReverseSequence", reversed_lengths},
                                   Asked{"", "RoiAlign", image_numbers},
                                   Asked{"", "RotaryEmbedding", rotary},
                                   Asked{"", "ScatterElements", along_axis},
                                   Asked{"", "ScatterND", scatter_tuples},
                                   Asked{"", "Slice", steps},
                                   Asked{"", "TensorScatter", cache_positions},
                                   Asked{"", "Tile", repeats},
                                   Asked{"", "TopK", chosen_count},
                                   Asked{kVendor, "EmbedLayerNormalization", embedding_ids},
                                   Asked{kVendor, "GatherBlockQuantized", gather_blocks},
                                   Asked{kVendor, "GatherND", scatter_tuples},
                                   Asked{kVendor, "RotaryEmbedding", rotary_of_vendor}};

}  // namespace

std::string_view name_of(OperandRule rule) {
  switch (rule) {
    case OperandRule::kRange:
      return "range";
    case OperandRule::kNonZero:
      return "non-zero";
    case OperandRule::kNoOverflow:
      return "no-overflow";
  }
  return "";
}

std::string to_string(const OperandRange& range) {
  if (range.high < range.low) return "nothing";
  if (range.high == kNoLimit) return "at least " + std::to_string(range.low);
  return std::to_string(range.low) + " to " + std::to_string(range.high);
}

std::vector<OperandCondition> operand_conditions(const Graph& graph, const Node& node) {
  const auto is_this = [&](const Asked& asked) { return asked.op_type == node.op_type && asked.domain == node.domain; };
  const auto* const found = std::ranges::find_if(kOperators, is_this);
  return found == kOperators.end() ? Conditions{} : found->conditions(graph, node);
}

}  // namespace collage
