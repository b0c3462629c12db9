#include "bench/operators/quantised_form.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace collage::bench {
namespace {

constexpr double kInputScale = 0.02;
/// Of every channel: a bias has the product of both scales, which engines rely on.
constexpr double kWeightScale = 0.01;
constexpr double kBiasScale = kInputScale * kWeightScale;
/// Of weights that are uniform over 8 bits, and of activations from their zero point.
constexpr double kDeviation = 74;
constexpr double kPositiveDeviation = 147;
/// So many deviations of the result fit into its 256 steps: on both sides of zero, or on one behind a Relu.
constexpr double kDeviations = 6;

const Node* find_layer(const Graph& graph) {
  const auto found =
      std::ranges::find_if(graph.nodes, [](const Node& node) { return is_op(node, "Conv") || is_op(node, "MatMul"); });
  return found == graph.nodes.end() ? nullptr : &*found;
}

ValueType with_element(const ValueType& type, ElementType element) {
  return ValueType::tensor(element, type.extents());
}

class Quantiser {
 public:
  Quantiser(const OperatorCase& which, const Node& layer) : from_(which.graph), layer_(layer) {
    made_.graph.opsets = from_.opsets;
    const Extents weights = from_.value(layer.inputs[1]).type.extents();
    is_convolution_ = is_op(layer, "Conv");
    channels_ = is_convolution_ ? weights[0] : weights.back();
    const double terms = static_cast<double>(element_count(weights)) / static_cast<double>(channels_);
    // Convolutions stand behind a Relu and before one, products between values of both signs.
    const double input = is_convolution_ ? kPositiveDeviation : kDeviation;
    const double deviations = is_convolution_ ? kDeviations / 2 : kDeviations;
    result_scale_ = std::sqrt(terms) * kBiasScale * input * kDeviation * deviations / 255;
  }

  OperatorCase as_operator() {
    const ValueId x = activation();
    const ValueId w = weight("w0", ElementType::kInt8, weight_extents(), {-127, 127});
    std::vector<ValueId> operands = {
        x, input_scale(), zero_point(), w, weight_scales(), weight_zeros(), scalar("c2", result_scale_), zero_point()};
    if (has_bias()) operands.push_back(bias());
    emit(is_convolution_ ? "QLinearConv" : "QLinearMatMul", operands, ElementType::kUint8,
         is_convolution_ ? layer_.attributes : std::vector<Attribute>{});
    return finish();
  }

  OperatorCase wrapped() {
    const ValueId x = dequantised(activation(), input_scale(), zero_point(), {});
    const std::int64_t axis = is_convolution_ ? 0 : static_cast<std::int64_t>(weight_extents().size()) - 1;
    const ValueId w = dequantised(weight("w0", ElementType::kInt8, weight_extents(), {-127, 127}), weight_scales(),
                                  weight_zeros(), {Attribute{.name = "axis", .value = axis}});
    std::vector<ValueId> operands = {x, w};
    if (has_bias()) {
      const ValueId scales = weight("w4", ElementType::kFloat32, {channels_}, {kBiasScale, kBiasScale});
      operands.push_back(dequantised(bias(), scales, ValueId{}, {Attribute{.name = "axis", .value = std::int64_t{0}}}));
    }
    ValueId result = emit(layer_.op_type, operands, ElementType::kFloat32, layer_.attributes);
    if (is_convolution_) result = emit("Relu", {result}, ElementType::kFloat32, {});
    emit("QuantizeLinear", {result, scalar("c2", result_scale_), zero_point()}, ElementType::kUint8, {});
    return finish();
  }

 private:
  [[nodiscard]] bool has_bias() const { return is_convolution_ && input_of(layer_, 2).valid(); }
  [[nodiscard]] Extents weight_extents() const { return from_.value(layer_.inputs[1]).type.extents(); }

  ValueId activation() {
    const ValueId id =
        add_value(made_.graph, "x0", with_element(from_.value(layer_.inputs[0]).type, ElementType::kUint8));
    made_.graph.inputs.push_back(id);
    made_.ranges["x0"] = {0, 255};
    return id;
  }

  ValueId weight(const char* name, ElementType type, const Extents& extents, std::pair<double, double> range) {
    const ValueId id = add_value(made_.graph, name, ValueType::tensor(type, extents));
    made_.graph.inputs.push_back(id);
    made_.ranges[name] = range;
    return id;
  }

  ValueId weight_scales() { return weight("w1", ElementType::kFloat32, {channels_}, {kWeightScale, kWeightScale}); }
  ValueId bias() { return weight("w3", ElementType::kInt32, {channels_}, {-2000, 2000}); }
  ValueId weight_zeros() { return weight("w2", ElementType::kInt8, {channels_}, {0, 0}); }

  ValueId scalar(const char* name, double value) {
    return add_constant(made_.graph, name,
                        make_tensor<float>(ElementType::kFloat32, {}, {std::stof(fmt::format("{:.3g}", value))}));
  }
  ValueId input_scale() { return scalar("c0", kInputScale); }
  /// Of the input and of the result.
  ValueId zero_point() {
    const std::uint8_t zero = is_convolution_ ? 0 : 128;
    if (!zero_.valid())
      zero_ = add_constant(made_.graph, "c1", make_tensor<std::uint8_t>(ElementType::kUint8, {}, {zero}));
    return zero_;
  }

  ValueId dequantised(ValueId value, ValueId scale, ValueId zero, std::vector<Attribute> attributes) {
    const ValueType type = with_element(made_.graph.value(value).type, ElementType::kFloat32);
    std::vector<ValueId> operands = {value, scale};
    if (zero.valid()) operands.push_back(zero);
    return emit("DequantizeLinear", std::move(operands), type, std::move(attributes));
  }

  /// A node whose result has the extents of the layer's.
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, ElementType element,
               std::vector<Attribute> attributes) {
    return emit(op, std::move(inputs), with_element(from_.value(layer_.outputs[0]).type, element),
                std::move(attributes));
  }

  ValueId emit(const std::string& op, std::vector<ValueId> inputs, const ValueType& type,
               std::vector<Attribute> attributes) {
    const std::size_t n = made_.graph.nodes.size();
    last_ = add_value(made_.graph, "v" + std::to_string(n), type);
    add_node(made_.graph, {.name = "n" + std::to_string(n),
                           .domain = {},
                           .op_type = op,
                           .inputs = std::move(inputs),
                           .outputs = {last_},
                           .captures = {},
                           .attributes = std::move(attributes)});
    return last_;
  }

  OperatorCase finish() {
    made_.graph.value(last_).name = "y0";
    made_.graph.outputs = {last_};
    return std::move(made_);
  }

  const Graph& from_;
  const Node& layer_;
  bool is_convolution_ = false;
  std::int64_t channels_ = 1;
  double result_scale_ = 1;
  ValueId zero_;
  ValueId last_;
  OperatorCase made_;
};

}  // namespace

std::optional<OperatorCase> quantised(const OperatorCase& which, QuantisedForm form) {
  const Node* layer = find_layer(which.graph);
  if (layer == nullptr || !which.graph.value(layer->inputs[1]).name.starts_with('w')) return std::nullopt;
  const std::size_t rank = which.graph.value(layer->inputs[1]).type.extents().size();
  if (rank != (is_op(*layer, "Conv") ? 4U : 2U)) return std::nullopt;
  Quantiser quantiser(which, *layer);
  OperatorCase made = form == QuantisedForm::kOperator ? quantiser.as_operator() : quantiser.wrapped();
  auto sorted = normalised(made.graph);
  if (!sorted) return std::nullopt;
  made.graph = *std::move(sorted);
  return made;
}

}  // namespace collage::bench
