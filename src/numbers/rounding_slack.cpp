#include "numbers/rounding_slack.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "base/random.h"
#include "numbers/quantisers.h"
#include "numbers/reference_run.h"

namespace collage {
namespace {

/// Engines that multiply by scales in fixed point or round once more err by about so much of a number, sums in another
/// order by less. No number moves by more than an eighth of a step of 8 bits.
constexpr double kNudge = 1e-3;
/// Another engine errs in each layer anew, and in another direction than the twin.
constexpr double kFactor = 2;

/// The input that holds the scale of what a quantised operator rounds to; nothing for other operators.
std::optional<std::size_t> output_scale(const Node& node) {
  static const std::map<std::string_view, std::size_t> kStandard = {{"QLinearConv", 6}, {"QLinearMatMul", 6}};
  static const std::map<std::string_view, std::size_t> kMicrosoft = {{"QLinearAdd", 6},
                                                                     {"QLinearMul", 6},
                                                                     {"QLinearConv", 6},
                                                                     {"QLinearMatMul", 6},
                                                                     {"QGemm", 7},
                                                                     {"QLinearWhere", 7},
                                                                     {"QLinearSigmoid", 3},
                                                                     {"QLinearLeakyRelu", 3},
                                                                     {"QLinearGlobalAveragePool", 3},
                                                                     {"QLinearSoftmax", 3},
                                                                     {"QLinearAveragePool", 3},
                                                                     {"QLinearReduceMean", 3},
                                                                     {"QLinearConcat", 0}};
  const auto& known = node.domain == "com.microsoft" ? kMicrosoft : kStandard;
  if (!node.domain.empty() && node.domain != "com.microsoft") return std::nullopt;
  const auto found = known.find(node.op_type);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

bool quantises_floats(const Node& node) {
  const bool has_domain = node.domain.empty() || node.domain == "com.microsoft";
  return has_domain && (node.op_type == "QuantizeLinear" || node.op_type == "DynamicQuantizeLinear");
}

class NudgedTwin {
 public:
  explicit NudgedTwin(const Graph& graph) : twin_(graph) {}

  std::optional<Graph> run() {
    std::vector<Node> nodes = std::move(twin_.nodes);
    twin_.nodes.clear();
    for (Node& node : nodes) {
      if (quantises_floats(node)) nudge_data(node);
      if (const auto scale = output_scale(node)) nudge_scale(node, *scale);
      twin_.nodes.push_back(std::move(node));
    }
    return is_nudged_ ? std::optional(std::move(twin_)) : std::nullopt;
  }

 private:
  /// Factors close to one: a value for each place along the last axis, so that a scale computed from the data does not
  /// take them back.
  Tensor factors(const ValueType& type) {
    const bool has_width = type.is_static() && !type.extents().empty() && type.extents().back() > 0;
    const Extents extents = has_width ? Extents{type.extents().back()} : Extents{};
    std::vector<float> values(static_cast<std::size_t>(element_count(extents)));
    for (float& value : values) value = static_cast<float>(1.0 + kNudge * (2 * random_.uniform() - 1));
    return make_tensor<float>(ElementType::kFloat32, extents, values);
  }

  [[nodiscard]] bool is_float(ValueId id) const {
    return id.valid() && twin_.value(id).type.element == ElementType::kFloat32;
  }

  void nudge_data(Node& node) {
    const ValueId data = input_of(node, 0);
    if (!is_float(data) || twin_.value(data).constant) return;  // of constants all engines know the exact value
    const ValueType type = twin_.value(data).type;
    const ValueId by = add_constant(twin_, {}, factors(type));
    const ValueId nudged = add_value(twin_, {}, type);
    twin_.nodes.push_back({.name = "nudge " + twin_.value(nudged).name,
                           .domain = {},
                           .op_type = "Mul",
                           .inputs = {data, by},
                           .outputs = {nudged},
                           .captures = {},
                           .attributes = {}});
    node.inputs[0] = nudged;
    is_nudged_ = true;
  }

  void nudge_scale(Node& node, std::size_t input) {
    const ValueId id = input_of(node, input);
    const Tensor* scale = constant_of(twin_, id);
    if (scale == nullptr || !is_float(id)) return;
    const auto old = scale->data.as<float>();
    std::vector<float> values(old.begin(), old.end());
    for (float& value : values) value *= static_cast<float>(1.0 + kNudge);
    node.inputs[input] = add_constant(twin_, {}, make_tensor<float>(ElementType::kFloat32, scale->extents, values));
    is_nudged_ = true;
  }

  Graph twin_;
  Random random_{1};
  bool is_nudged_ = false;
};

}  // namespace

std::optional<Graph> nudged_twin(const Graph& graph) {
  const bool has_quantisers = std::ranges::any_of(
      graph.nodes, [](const Node& node) { return quantises_floats(node) || output_scale(node).has_value(); });
  return has_quantisers ? NudgedTwin(graph).run() : std::nullopt;
}

double rounding_slack(const Tensor& expected, const Tensor& nudged, bool is_rounded) {
  if (expected.type != nudged.type || expected.extents != nudged.extents) return 0;
  double largest = 0;
  const auto add = [&](const auto& left, const auto& right) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double difference = std::abs(static_cast<double>(left[i]) - static_cast<double>(right[i]));
      if (std::isfinite(difference)) largest = std::max(largest, difference);
    }
  };
  if (const auto left = floats_of(expected)) {
    add(*left, *floats_of(nudged));
  } else if (is_rounded) {
    const auto integers = integers_of(expected);
    if (!integers) return 0;
    largest = 0.5;  // at least one step
    add(*integers, *integers_of(nudged));
  }
  return kFactor * largest;
}

std::vector<double> region_slacks(const Graph& graph, const Uses& uses, const Region& region,
                                  const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                                  Backend& reference) {
  const auto is_held = [](const Tensor& tensor) { return tensor.container || tensor.type == ElementType::kString; };
  if (std::ranges::any_of(inputs, is_held) || std::ranges::any_of(outputs, is_held)) return {};
  const auto twin = nudged_twin(extract(graph, region));
  if (!twin) return {};
  auto run = ReferenceRun::create(reference, *twin);
  const auto nudged = run ? run->run(inputs) : std::unexpected(run.error());
  if (!nudged || nudged->size() != outputs.size()) return {};
  std::vector<double> slacks;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    slacks.push_back(rounding_slack(outputs[o], (*nudged)[o], is_after_quantiser(graph, uses, region.outputs[o])));
  return slacks;
}

}  // namespace collage
