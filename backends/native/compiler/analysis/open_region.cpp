#include "compiler/analysis/open_region.h"

#include <algorithm>
#include <array>
#include <set>

#include "backends/common/window/window.h"
#include "compiler/analysis/site.h"
#include "compiler/expressions/expression.h"

namespace collage::native {
namespace {

constexpr std::int64_t kMostExtent = (std::int64_t{1} << 31) - 1;
/// Larger than the register tiles and windows there are.
constexpr std::int64_t kWritingExtent = 64;
using Shape = std::expected<Terms, Refusal>;

constexpr std::array<std::string_view, 5> kKeepShape = {"Softmax", "LogSoftmax", "LayerNormalization",
                                                        "RMSNormalization", "InstanceNormalization"};

std::string text_of(const Node& node) { return node.op_type + " with open dimensions"; }

Terms fixed(const Extents& extents) {
  Terms terms;
  for (const std::int64_t extent : extents) terms.push_back({.factor = extent});
  return terms;
}

bool is_one(const Term& term) { return term == Term{}; }

/// Shapes of the region's values, one operator after the other.
class ShapeReader {
 public:
  ShapeReader(const Graph& graph, const Region& region, const ShapeDomain& domain)
      : graph_(graph), region_(region), domain_(domain) {}

  std::expected<OpenRegion, Refusal> read() {
    for (std::size_t i = 0; i < region_.inputs.size(); ++i)
      if (auto ok = add_input(static_cast<std::uint32_t>(i)); !ok) return std::unexpected(ok.error());
    for (const std::size_t n : region_.nodes.members())
      if (auto ok = add_node(graph_.nodes[n]); !ok) return std::unexpected(ok.error());
    return std::move(open_);
  }

 private:
  std::expected<void, Refusal> add_input(std::uint32_t port) {
    const Value& value = graph_.value(region_.inputs[port]);
    if (!value.type.shape) return refuse(RefusalReason::kShape, "no rank: " + value.name);
    Terms shape;
    for (std::uint32_t axis = 0; axis < value.type.shape->size(); ++axis) {
      const Dim& dim = (*value.type.shape)[axis];
      if (dim.is_static()) {
        shape.push_back({.factor = dim.extent});
        continue;
      }
      const auto range = std::ranges::find(domain_.dimensions, dim.symbol, &DimensionRange::name);
      if (dim.symbol.empty() || range == domain_.dimensions.end())
        return refuse(RefusalReason::kShape, "an open dimension without a range: " + to_string(value.type));
      shape.push_back({.factor = 1, .sizes = {size_of({.symbol = symbol_of(*range, port, axis)})}});
    }
    open_.shapes[region_.inputs[port]] = std::move(shape);
    return {};
  }

  std::uint32_t symbol_of(const DimensionRange& range, std::uint32_t port, std::uint32_t axis) {
    const auto found = std::ranges::find(open_.symbols, range.name, &Symbol::name);
    if (found != open_.symbols.end()) return static_cast<std::uint32_t>(found - open_.symbols.begin());
    open_.symbols.push_back({.name = range.name,
                             .input = port,
                             .axis = axis,
                             .low = std::max<std::int64_t>(range.low, 1),
                             .high = std::min(range.high, kMostExtent)});
    return static_cast<std::uint32_t>(open_.symbols.size() - 1);
  }

  std::uint32_t size_of(const Size& size) {
    const auto found = std::ranges::find(open_.sizes, size);
    const auto index = static_cast<std::uint32_t>(found - open_.sizes.begin());
    if (found == open_.sizes.end()) open_.sizes.push_back(size);
    return index;
  }

  Terms shape_of(ValueId id) {
    if (const auto found = open_.shapes.find(id); found != open_.shapes.end()) return found->second;
    return fixed(graph_.value(id).type.extents());  // a constant: what others make is there by now
  }

  std::expected<void, Refusal> add_node(const Node& node) {
    for (const ValueId id : node.inputs)
      if (id.valid() && !open_.shapes.contains(id) && !constant_of(graph_, id))
        return refuse(RefusalReason::kStructure, "a value from nowhere: " + graph_.value(id).name);
    Shape shape = result_of(node);
    if (!shape) return std::unexpected(shape.error());
    open_.shapes[node.outputs[0]] = *std::move(shape);
    return {};
  }

  Shape result_of(const Node& node) {
    if (is_element_node(graph_, node)) return broadcast(node);
    if (!node.domain.empty()) return refuse(RefusalReason::kShape, text_of(node));
    if (node.op_type == "MatMul" || node.op_type == "Gemm") return product(node);
    if (node.op_type == "Conv") return convolution(node);
    if (std::ranges::find(kKeepShape, node.op_type) != kKeepShape.end()) return shape_of(node.inputs[0]);
    return refuse(RefusalReason::kShape, text_of(node));
  }

  Shape broadcast(const Node& node) {
    Terms result;
    for (const ValueId id : node.inputs) {
      if (!id.valid()) continue;
      Terms own = shape_of(id);
      if (own.size() < result.size()) own.insert(own.begin(), result.size() - own.size(), Term{});
      if (result.size() < own.size()) result.insert(result.begin(), own.size() - result.size(), Term{});
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (is_one(result[i])) result[i] = own[i];
        // Whether two of other names are the same extent, or one of them is 1, is seen too late.
        if (!is_one(own[i]) && result[i] != own[i])
          return refuse(RefusalReason::kShape, node.op_type + " over dimensions that may differ");
      }
    }
    return result;
  }

  Shape product(const Node& node) {
    Terms a = shape_of(node.inputs[0]);
    const Terms b = shape_of(node.inputs[1]);
    if (a.size() < 2 || b.size() != 2) return refuse(RefusalReason::kShape, "not rows by a matrix");
    const bool is_gemm = node.op_type == "Gemm";
    const auto flips = [&](const char* name) {
      return is_gemm && attribute_or<std::int64_t>(node, name, 0) != 0 ? 1U : 0U;
    };
    if (flips("transA") != 0) std::swap(a[0], a[1]);
    // Without a term a sum is zero, but a kernel that has nothing to do writes nothing.
    if (a.back().is_open()) return refuse(RefusalReason::kShape, text_of(node) + " to sum over");
    if (a.back() != b[flips("transB")]) return refuse(RefusalReason::kShape, text_of(node) + " to sum over");
    a.back() = b[1 - flips("transB")];
    return a;
  }

  Shape convolution(const Node& node) {
    Terms shape = shape_of(node.inputs[0]);
    const Terms weights = shape_of(node.inputs[1]);
    if (shape.size() < 3 || weights.size() != shape.size())
      return refuse(RefusalReason::kShape, "rank of " + node.op_type);
    if (std::ranges::any_of(weights, &Term::is_open) || shape[1].is_open())
      return refuse(RefusalReason::kShape, "open channels");
    shape[1] = weights[0];
    Extents kernel;
    for (std::size_t i = 2; i < weights.size(); ++i) kernel.push_back(weights[i].factor);
    const auto auto_pad = attribute_or<std::string>(node, "auto_pad", "NOTSET");
    // Pads of the attributes: extents do not matter where nothing is SAME.
    const auto window = window_of(node, kernel, Extents(kernel.size(), 1), Extents(kernel.size(), 1));
    if (!window) return std::unexpected(window.error());
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const std::int64_t reach = (kernel[i] - 1) * window->dilations[i] + 1;
      std::int64_t pads = window->begin[i] + given_end(node, kernel.size(), i, auto_pad);
      if (auto_pad.starts_with("SAME")) {
        if (window->strides[i] != 1 && shape[2 + i].is_open())
          return refuse(RefusalReason::kShape, "padding that depends on an open dimension");
        pads = reach - 1;
      }
      auto swept = window_over(shape[2 + i], pads - reach, window->strides[i]);
      if (!swept) return std::unexpected(swept.error());
      shape[2 + i] = *std::move(swept);
    }
    return shape;
  }

  static std::int64_t given_end(const Node& node, std::size_t rank, std::size_t axis, std::string_view auto_pad) {
    const auto pads = attribute_or<std::vector<std::int64_t>>(node, "pads", std::vector<std::int64_t>(2 * rank, 0));
    return auto_pad == "NOTSET" ? pads[rank + axis] : 0;
  }

  std::expected<Term, Refusal> window_over(const Term& extent, std::int64_t add, std::int64_t stride) {
    if (!extent.is_open()) return Term{.factor = (extent.factor + add) / stride + 1};
    const Size& from = open_.sizes[extent.sizes[0]];
    if (extent.factor != 1 || extent.sizes.size() != 1 || !from.is_symbol())
      return refuse(RefusalReason::kShape, "a window over what is no input's extent");
    Symbol& symbol = open_.symbols[from.symbol];
    // Below, nothing is left of it.
    symbol.low = std::max(symbol.low, -add);
    if (symbol.low > symbol.high) return refuse(RefusalReason::kShape, "a window larger than " + symbol.name);
    if (add == -1 && stride == 1) return extent;
    return Term{.factor = 1, .sizes = {size_of({.symbol = from.symbol, .add = add, .divide = stride, .plus = 1})}};
  }

  const Graph& graph_;
  const Region& region_;
  const ShapeDomain& domain_;
  OpenRegion open_;
};

/// The least extent of the symbol that makes the size at least so large.
std::int64_t extent_for(const Size& size, std::int64_t least) { return (least - size.plus) * size.divide - size.add; }

}  // namespace

bool is_open(const Graph& graph, const Region& region) {
  return std::ranges::any_of(region.inputs, [&](ValueId id) {
    const ValueType& type = graph.value(id).type;
    return type.kind == ValueKind::kTensor && !type.is_static();
  });
}

ShapeDomain any_extents(const Graph& graph, const Region& region) {
  std::set<std::string> names;
  for (const ValueId id : region.inputs)
    if (const ValueType& type = graph.value(id).type; type.shape)
      for (const Dim& dim : *type.shape)
        if (!dim.symbol.empty()) names.insert(dim.symbol);
  ShapeDomain domain;
  for (const std::string& name : names) domain.dimensions.push_back({.name = name, .low = 1, .high = kMostExtent});
  return domain;
}

std::expected<OpenRegion, Refusal> open_region_of(const Graph& graph, const Region& region, const ShapeDomain& domain) {
  return ShapeReader(graph, region, domain).read();
}

Graph graph_at(const Graph& graph, const OpenRegion& open, const Extents& symbols) {
  KernelSet numbers;
  numbers.sizes = open.sizes;
  const Extents sizes = sizes_at(numbers, symbols);
  Graph at = graph;
  for (const auto& [id, shape] : open.shapes)
    at.value(id).type = ValueType::tensor(at.value(id).type.element, values_of(shape, sizes));
  return at;
}

Extents writing_point(const OpenRegion& open, const Extents& at_least) {
  Extents point;
  for (std::uint32_t i = 0; i < open.symbols.size(); ++i) {
    std::int64_t extent = at_least.empty() ? 0 : at_least[i];
    for (const Size& size : open.sizes)
      if (size.symbol == i) extent = std::max(extent, extent_for(size, kWritingExtent));
    point.push_back(extent);
  }
  return point;
}

OpenView open_view_of(const Terms& shape, const Format& format, const Space& space) {
  const std::size_t rank = space.result.size();
  Terms own(rank - shape.size());
  own.insert(own.end(), shape.begin(), shape.end());
  std::vector<Term> strides(rank);
  Term stride;
  const auto order = memory_order(shape.size(), format);
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    strides[rank - shape.size() + *axis] = stride;
    stride = stride * shape[*axis];
  }
  OpenView view;
  for (const auto& group : space.axes) {
    Term extent;
    Term step{.factor = 0};
    for (auto axis = group.rbegin(); axis != group.rend(); ++axis) {
      if (is_one(own[*axis])) continue;
      if (is_one(extent)) step = strides[*axis];
      extent = extent * own[*axis];
    }
    view.extents.push_back(std::move(extent));
    view.strides.push_back(std::move(step));
  }
  return view;
}

}  // namespace collage::native
