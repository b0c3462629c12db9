#include "ir/intervals.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace collage {
namespace {

/// Producers in a row that are followed; beyond, only the type counts.
constexpr int kDeepest = 64;
/// No tensor has more elements along an axis.
constexpr std::int64_t kLongest = std::int64_t{1} << 40;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

__extension__ typedef __int128 Wide;  // holds any sum, difference and product of two 64-bit integers

/// What does not fit 64 bits is unknown: it wraps.
std::optional<OperandRange> narrowed(Wide low, Wide high) {
  if (low < kLeast || high > kMost) return std::nullopt;
  return OperandRange{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

OperandRange hull(const OperandRange& a, const OperandRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// The hull of an operation's results at the corners: right where it is monotone in each operand.
template <class Operation>
std::optional<OperandRange> at_corners(const OperandRange& a, const OperandRange& b, Operation operation) {
  const Wide results[] = {operation(Wide{a.low}, Wide{b.low}), operation(Wide{a.low}, Wide{b.high}),
                          operation(Wide{a.high}, Wide{b.low}), operation(Wide{a.high}, Wide{b.high})};
  return narrowed(*std::ranges::min_element(results), *std::ranges::max_element(results));
}

std::optional<OperandRange> of_constant(const Tensor& constant) {
  const auto numbers = integers_of(constant);
  if (!numbers || numbers->empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(*numbers);
  return OperandRange{low, high};
}

/// The longest axis of a value, or the given one.
std::int64_t longest(const Graph& graph, ValueId id, std::optional<std::int64_t> axis = std::nullopt) {
  if (!id.valid() || !graph.value(id).type.shape) return kLongest;
  const Shape& shape = *graph.value(id).type.shape;
  if (axis && *axis < 0) *axis += static_cast<std::int64_t>(shape.size());
  std::int64_t most = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!axis || *axis == static_cast<std::int64_t>(i))
      most = std::max(most, shape[i].is_static() ? shape[i].extent : kLongest);
  return most;
}

bool moves_first(const Node& node) {
  static const std::set<std::string, std::less<>> kNames = {
      "Compress",  "DepthToSpace", "Expand",  "Flatten",   "Gather",       "GatherElements", "GatherND",
      "Identity",  "Reshape",      "Slice",   "Split",     "SpaceToDepth", "Squeeze",        "Tile",
      "Transpose", "Unsqueeze",    "Reverse", "ReduceMax", "ReduceMin"};
  return node.domain.empty() && kNames.contains(node.op_type);
}

/// The result of a reduction over no elements, which is not one of the operand's elements.
bool may_reduce_nothing(const Graph& graph, const Node& node) {
  if (!is_op(node, "ReduceMax") && !is_op(node, "ReduceMin")) return false;
  const ValueType& type = graph.value(node.inputs[0]).type;
  return !type.is_static() || element_count(type.extents()) == 0;
}

}  // namespace

OperandRange range_of(ElementType type) {
  if (type == ElementType::kBool) return {0, 1};
  if (!is_integer(type)) return {};
  const int bits = bits_of(type);
  const bool is_unsigned = type == ElementType::kUint8 || type == ElementType::kUint16 ||
                           type == ElementType::kUint32 || type == ElementType::kUint64 ||
                           type == ElementType::kUint4 || type == ElementType::kUint2;
  // u64 numbers beyond the largest i64 are not represented; indices and sizes never reach them.
  if (bits == 64) return {is_unsigned ? 0 : kLeast, kMost};
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return is_unsigned ? OperandRange{0, 2 * half - 1} : OperandRange{-half, half - 1};
}

const Node* Intervals::producer_of(ValueId id) {
  if (producers_.empty()) {
    producers_.resize(graph_.values.size());
    for (const Node& node : graph_.nodes)
      for (const ValueId output : node.outputs)
        if (output.valid()) producers_[output.index] = &node;
  }
  return producers_[id.index];
}

OperandRange Intervals::of(ValueId id) {
  if (!id.valid()) return {};
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  if (depth_ >= kDeepest) return range_of(graph_.value(id).type.element);
  ++depth_;
  const OperandRange range = followed(id);
  --depth_;
  known_.emplace(id, range);
  return range;
}

/// The results of one node, from the intervals of its operands. Nothing where only the type tells.
struct Intervals::Followed {
  Intervals& intervals;
  const Node& node;
  std::size_t output;

  [[nodiscard]] const Graph& graph() const { return intervals.graph_; }
  [[nodiscard]] OperandRange in(std::size_t i) const { return intervals.of(input_of(node, i)); }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const {
    return attribute_or<std::int64_t>(node, name, fallback);
  }

  [[nodiscard]] std::optional<OperandRange> result() const {
    if (node.op_type == "TopK" && node.domain.empty() && output == 1) return below(along(integer("axis", -1)));
    if (is_op(node, "Unique") && output != 0) return positions_and_counts();
    if (const auto column = column_read())
      return below(selected_extent(*intervals.producer_of(node.inputs[0]), *column));
    if (output != 0 && node.op_type != "Split") return std::nullopt;
    if (moves_first(node) && !may_reduce_nothing(graph(), node)) return in(0);
    if (!node.domain.empty()) return std::nullopt;
    if (const auto found = rules().find(node.op_type); found != rules().end()) return found->second(*this);
    return std::nullopt;
  }

 private:
  using Rule = std::function<std::optional<OperandRange>(const Followed&)>;

  [[nodiscard]] std::int64_t along(std::int64_t axis) const { return longest(graph(), node.inputs[0], axis); }
  [[nodiscard]] static OperandRange below(std::int64_t extent) { return {0, std::max<std::int64_t>(extent, 1) - 1}; }

  /// Of Unique: places in its input, or how often an element occurs there.
  [[nodiscard]] std::optional<OperandRange> positions_and_counts() const {
    const ValueType& type = graph().value(node.inputs[0]).type;
    const bool has_axis = find_attribute<std::int64_t>(node, "axis") != nullptr;
    const std::int64_t most = has_axis           ? along(integer("axis", 0))
                              : type.is_static() ? element_count(type.extents())
                                                 : kLongest;
    return output == 3 ? OperandRange{0, most} : below(most);
  }

  /// The column of what a NonMaxSuppression selected ([selected, 3]: image, class, box) that this node reads, alone.
  [[nodiscard]] std::optional<std::int64_t> column_read() const {
    const ValueId data = input_of(node, 0);
    const Node* const maker = data.valid() ? intervals.producer_of(data) : nullptr;
    if (maker == nullptr || !is_op(*maker, "NonMaxSuppression")) return std::nullopt;
    if (is_op(node, "Gather") && integer("axis", 0) == 1) return column_of(only_number(1));
    if (!is_op(node, "Slice") || only_number(3) != 1) return std::nullopt;
    const auto first = only_number(1);
    const auto end = only_number(2);
    return first && *first >= 0 && end == *first + 1 ? column_of(first) : std::nullopt;
  }

  /// An index into three columns, counted from the end when negative; nothing when it is none.
  [[nodiscard]] static std::optional<std::int64_t> column_of(std::optional<std::int64_t> index) {
    constexpr std::int64_t kColumns = 3;
    if (!index || *index < -kColumns || *index >= kColumns) return std::nullopt;
    return *index < 0 ? *index + kColumns : *index;
  }

  /// The one element of a constant operand.
  [[nodiscard]] std::optional<std::int64_t> only_number(std::size_t i) const {
    const Tensor* const constant = constant_of(graph(), input_of(node, i));
    const auto numbers = constant != nullptr ? integers_of(*constant) : std::nullopt;
    return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
  }

  /// How many images, classes or boxes there are to select from: boxes [images, boxes, 4], scores [images, classes,
  /// boxes].
  [[nodiscard]] std::int64_t selected_extent(const Node& suppression, std::int64_t column) const {
    if (column == 0) return longest(graph(), input_of(suppression, 0), 0);
    if (column == 1) return longest(graph(), input_of(suppression, 1), 1);
    return longest(graph(), input_of(suppression, 0), 1);
  }

  [[nodiscard]] OperandRange joined(std::size_t first) const {
    OperandRange all = in(first);
    for (std::size_t i = first + 1; i < node.inputs.size(); ++i) all = hull(all, in(i));
    return all;
  }

  template <class Join>
  [[nodiscard]] OperandRange folded(Join join) const {
    OperandRange all = in(0);
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const OperandRange other = in(i);
      all = {join(all.low, other.low), join(all.high, other.high)};
    }
    return all;
  }

  [[nodiscard]] std::optional<OperandRange> clipped() const {
    OperandRange range = in(0);
    if (input_of(node, 1).valid()) {
      const OperandRange low = in(1);
      range = {std::max(range.low, low.low), std::max(range.high, low.high)};
    }
    if (input_of(node, 2).valid()) {
      const OperandRange high = in(2);
      range = {std::min(range.low, high.low), std::min(range.high, high.high)};
    }
    return range;
  }

  [[nodiscard]] std::optional<OperandRange> divided() const {
    const OperandRange by = in(1);
    if (by.low <= 0) return std::nullopt;
    return at_corners(in(0), by, [](Wide a, Wide b) { return a / b; });
  }

  [[nodiscard]] std::optional<OperandRange> remainder() const {
    const OperandRange by = in(1);
    if (by.low <= 0) return std::nullopt;
    const bool is_signed = integer("fmod", 0) != 0 && in(0).low < 0;
    return OperandRange{is_signed ? 1 - by.high : 0, by.high - 1};
  }

  [[nodiscard]] std::optional<OperandRange> counted() const {
    const OperandRange step = in(2);
    if (step.low <= 0) return std::nullopt;
    const OperandRange start = in(0);
    return OperandRange{start.low, std::max(start.high, in(1).high == kLeast ? kLeast : in(1).high - 1)};
  }

  /// At most `count` terms, or none.
  [[nodiscard]] std::optional<OperandRange> summed(std::int64_t count) const {
    const OperandRange one = in(0);
    return narrowed(std::min<Wide>(0, Wide{one.low} * count), std::max<Wide>(0, Wide{one.high} * count));
  }

  [[nodiscard]] std::optional<OperandRange> summed_all() const {
    const ValueType& type = graph().value(node.inputs[0]).type;
    return type.is_static() ? summed(element_count(type.extents())) : std::nullopt;
  }

  [[nodiscard]] std::optional<OperandRange> cast() const {
    const ElementType from = graph().value(node.inputs[0]).type.element;
    if (from != ElementType::kBool && (!is_integer(from) || from == ElementType::kUint64)) return std::nullopt;
    return in(0);
  }

  [[nodiscard]] static const std::map<std::string, Rule, std::less<>>& rules() {
    static const std::map<std::string, Rule, std::less<>> table = {
        {"Abs",
         [](const Followed& at) {
           const OperandRange x = at.in(0);
           return narrowed(x.low > 0    ? x.low
                           : x.high < 0 ? -Wide{x.high}
                                        : Wide{0},
                           std::max(-Wide{x.low}, Wide{x.high}));
         }},
        {"Add",
         [](const Followed& at) { return at_corners(at.in(0), at.in(1), [](Wide a, Wide b) { return a + b; }); }},
        {"ArgMax", [](const Followed& at) { return std::optional(below(at.along(at.integer("axis", 0)))); }},
        {"ArgMin", [](const Followed& at) { return std::optional(below(at.along(at.integer("axis", 0)))); }},
        {"Cast", [](const Followed& at) { return at.cast(); }},
        {"CastLike", [](const Followed& at) { return at.cast(); }},
        {"Clip", [](const Followed& at) { return at.clipped(); }},
        {"Concat", [](const Followed& at) { return std::optional(at.joined(0)); }},
        {"CumSum", [](const Followed& at) { return at.summed(longest(at.graph(), at.node.inputs[0])); }},
        {"Div", [](const Followed& at) { return at.divided(); }},
        {"Max",
         [](const Followed& at) {
           return std::optional(at.folded([](std::int64_t a, std::int64_t b) { return std::max(a, b); }));
         }},
        {"Min",
         [](const Followed& at) {
           return std::optional(at.folded([](std::int64_t a, std::int64_t b) { return std::min(a, b); }));
         }},
        {"Mod", [](const Followed& at) { return at.remainder(); }},
        {"Mul",
         [](const Followed& at) { return at_corners(at.in(0), at.in(1), [](Wide a, Wide b) { return a * b; }); }},
        {"Neg",
         [](const Followed& at) {
           const OperandRange x = at.in(0);
           return narrowed(-Wide{x.high}, -Wide{x.low});
         }},
        {"NonMaxSuppression",
         [](const Followed& at) {
           OperandRange all = below(at.selected_extent(at.node, 0));
           for (const std::int64_t column : {1, 2}) all = hull(all, below(at.selected_extent(at.node, column)));
           return std::optional(all);
         }},
        {"NonZero", [](const Followed& at) { return std::optional(below(longest(at.graph(), at.node.inputs[0]))); }},
        {"Range", [](const Followed& at) { return at.counted(); }},
        {"ReduceSum", [](const Followed& at) { return at.summed_all(); }},
        {"Shape",
         [](const Followed& at) {
           return std::optional(OperandRange{0, longest(at.graph(), at.node.inputs[0])});
         }},
        {"Sign",
         [](const Followed&) {
           return std::optional(OperandRange{-1, 1});
         }},
        {"Size",
         [](const Followed&) {
           return std::optional(OperandRange{0, kLongest});
         }},
        {"Sub",
         [](const Followed& at) { return at_corners(at.in(0), at.in(1), [](Wide a, Wide b) { return a - b; }); }},
        {"Where", [](const Followed& at) { return std::optional(at.joined(1)); }},
    };
    return table;
  }
};

OperandRange Intervals::followed(ValueId id) {
  const Value& value = graph_.value(id);
  const OperandRange all = range_of(value.type.element);
  if (value.constant) return of_constant(*value.constant).value_or(all);
  const Node* const node = producer_of(id);
  if (node == nullptr || (value.type.element != ElementType::kBool && !is_integer(value.type.element))) return all;
  const auto output = static_cast<std::size_t>(std::ranges::find(node->outputs, id) - node->outputs.begin());
  const auto range = Followed{*this, *node, output}.result();
  // What does not fit the type wraps.
  return range && all.low <= range->low && range->high <= all.high ? *range : all;
}

}  // namespace collage
