#include "bench/operators/case_maker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/operators/operator_classes.h"

namespace collage::bench {
namespace {

/// What a text shows by value.
constexpr std::int64_t kMostShown = 16;

bool is_quantiser(const Node& node) {
  return is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear") || is_integer_product(node);
}

/// Integers that shapes and positions are made of, scales of a resize and lone numbers are part of the computation;
/// scales and zero points of quantised values are weights, whatever their size.
bool is_weight(const Graph& graph, const Uses& uses, ValueId id) {
  const Tensor& tensor = *graph.value(id).constant;
  if (tensor.size() > kMostShown) return true;
  const auto& readers = uses.consumers[id.index];
  const bool scales = std::ranges::any_of(readers, [&](NodeId n) { return is_quantiser(graph.node(n)); });
  if (!is_float(tensor.type)) return scales && tensor.size() > 1;
  const bool resizes = std::ranges::any_of(readers, [&](NodeId n) { return is_op(graph.node(n), "Resize"); });
  return !resizes && (scales || tensor.size() > 1);
}

struct Bounds {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
};

template <class T>
Bounds bounds_of(const std::vector<T>& values) {
  Bounds bounds;
  for (const T value : values) {
    if (!std::isfinite(static_cast<double>(value))) continue;
    bounds.low = std::min(bounds.low, static_cast<double>(value));
    bounds.high = std::max(bounds.high, static_cast<double>(value));
  }
  return bounds;
}

double short_form(double value) { return std::stod(fmt::format("{:.3g}", value)); }

/// Of a weight. One value everywhere is what exporters of models without weights write: some spread is put around it,
/// so that a wrong result shows.
std::optional<std::pair<double, double>> range_of(const Tensor& tensor) {
  if (const auto integers = integers_of(tensor)) {
    const Bounds bounds = bounds_of(*integers);
    return std::pair{bounds.low, bounds.high};
  }
  const auto floats = floats_of(tensor);
  if (!floats) return std::nullopt;
  Bounds bounds = bounds_of(*floats);
  if (!std::isfinite(bounds.low) || (bounds.low == bounds.high && bounds.low == 0)) return std::nullopt;
  if (bounds.low == bounds.high && tensor.size() > 1) bounds = {bounds.low * 0.5, bounds.high * 1.5};
  if (bounds.low > bounds.high) std::swap(bounds.low, bounds.high);
  return std::pair{short_form(bounds.low), short_form(bounds.high)};
}

/// Quantised activations use all of their type.
std::optional<std::pair<double, double>> range_of(const ValueType& type) {
  if (type.element == ElementType::kUint8) return std::pair{0.0, 255.0};
  if (type.element == ElementType::kInt8) return std::pair{-128.0, 127.0};
  return std::nullopt;
}

class Maker {
 public:
  explicit Maker(Graph graph) : graph_(std::move(graph)), uses_(uses_of(graph_)) {}

  OperatorCase run() {
    OperatorCase made;
    graph_.name.clear();
    number("x", graph_.inputs);
    for (const ValueId id : graph_.inputs) note(made.ranges, id, range_of(graph_.value(id).type));
    name_constants(made.ranges);
    name_results();
    made.graph = std::move(graph_);
    return made;
  }

 private:
  void number(const char* letter, const std::vector<ValueId>& ids) {
    std::size_t count = 0;
    for (const ValueId id : ids) graph_.value(id).name = letter + std::to_string(count++);
  }

  void note(Ranges& ranges, ValueId id, const std::optional<std::pair<double, double>>& range) const {
    if (range) ranges[graph_.value(id).name] = *range;
  }

  void name_constants(Ranges& ranges) {
    std::size_t weights = 0;
    std::size_t constants = 0;
    for (std::uint32_t v = 0; v < graph_.values.size(); ++v) {
      Value& value = graph_.values[v];
      if (!value.constant) continue;
      const bool by_extents = is_weight(graph_, uses_, ValueId{v});
      value.name = by_extents ? "w" + std::to_string(weights++) : "c" + std::to_string(constants++);
      if (!by_extents) continue;
      note(ranges, ValueId{v}, range_of(*value.constant));
      value.type = value.constant->value_type();
      value.constant.reset();
      graph_.inputs.push_back(ValueId{v});
    }
  }

  void name_results() {
    std::size_t count = 0;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      graph_.nodes[n].name = "n" + std::to_string(n);
      for (const ValueId id : graph_.nodes[n].outputs)
        if (id.valid()) graph_.value(id).name = "v" + std::to_string(count++);
    }
    number("y", graph_.outputs);
  }

  Graph graph_;
  Uses uses_;
};

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Extents extents_of(const Graph& graph, ValueId id) {
  return id.valid() && graph.value(id).type.is_static() ? graph.value(id).type.extents() : Extents{};
}

std::string joined(std::span<const std::int64_t> extents) { return fmt::format("{}", fmt::join(extents, "x")); }

/// "-s2", "-d2": what is not one.
std::string unusual(const Node& node, std::string_view attribute, char letter) {
  const auto* values = find_attribute<std::vector<std::int64_t>>(node, attribute);
  if (values == nullptr || std::ranges::all_of(*values, [](std::int64_t v) { return v == 1; })) return {};
  const bool equal = std::ranges::all_of(*values, [&](std::int64_t v) { return v == values->front(); });
  return fmt::format("-{}{}", letter, equal ? std::to_string(values->front()) : joined(*values));
}

std::string convolution_text(const Graph& graph, const Node& node, std::size_t weights_port) {
  const Extents in = extents_of(graph, input_of(node, 0));
  const Extents weights = extents_of(graph, input_of(node, weights_port));
  const Extents out = extents_of(graph, node.outputs[0]);
  const auto groups = attribute_or<std::int64_t>(node, "group", 1);
  return joined(std::span(weights).subspan(2)) + fmt::format("-{}to{}-", in[1], out[1]) +
         joined(std::span(in).subspan(2)) + unusual(node, "strides", 's') + unusual(node, "dilations", 'd') +
         (groups > 1 ? fmt::format("-g{}", groups) : "") + (in[0] > 1 ? fmt::format("-n{}", in[0]) : "");
}

std::string product_text(const Graph& graph, const Node& node) {
  const Extents a = extents_of(graph, input_of(node, 0));
  const bool is_linear = is_op(node, "QLinearMatMul");
  const Extents b = extents_of(graph, input_of(node, is_linear ? 3 : 1));
  return joined(a) + "-by-" + joined(b);
}

std::string anchor_text(const Graph& graph, const Node& node) {
  if (is_op(node, "Conv") || is_op(node, "ConvTranspose") || is_op(node, "ConvInteger"))
    return convolution_text(graph, node, 1);
  if (is_op(node, "QLinearConv")) return convolution_text(graph, node, 3);
  if (is_op(node, "MatMul") || is_op(node, "Gemm") || is_op(node, "MatMulInteger") || is_op(node, "QLinearMatMul"))
    return product_text(graph, node);
  return lower_case(node.op_type) + '-' + joined(extents_of(graph, input_of(node, 0)));
}

}  // namespace

Result<OperatorCase> make_case(const Graph& graph, const Cut& cut) {
  OperatorCase made = Maker(extract(graph, cut.region)).run();
  COLLAGE_TRY(made.graph, normalised(made.graph));
  made.name = cut.class_name + '/';
  return made;
}

std::string key_of(const OperatorCase& which) { return collage::to_text(which.graph); }

std::string describe(const Graph& graph, const NodeSet& nodes, std::size_t anchor) {
  std::string text = anchor_text(graph, graph.nodes[anchor]);
  // Moves that only rename say little; so do repetitions.
  static const std::set<std::string, std::less<>> kSilent = {"Reshape",  "Squeeze",          "Unsqueeze",     "Flatten",
                                                             "Identity", "DequantizeLinear", "QuantizeLinear"};
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> named;
  for (const std::size_t n : nodes.members()) {
    const std::string name = lower_case(graph.nodes[n].op_type);
    if (n != anchor && !kSilent.contains(graph.nodes[n].op_type) && (named.empty() || named.back() != name))
      named.push_back(name);
  }
  if (named.size() > kMostNamed) {
    named.resize(kMostNamed);
    named.emplace_back(fmt::format("of{}", nodes.count()));
  }
  for (const std::string& name : named) text += '-' + name;
  return text;
}

}  // namespace collage::bench
