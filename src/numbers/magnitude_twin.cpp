#include "numbers/magnitude_twin.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

namespace collage {
namespace {

bool is_usual_float(ElementType type) {
  return type == ElementType::kFloat32 || type == ElementType::kFloat64 || type == ElementType::kFloat16 ||
         type == ElementType::kBfloat16;
}

/// Sets or clears the sign bit of every element, which is the highest of its last byte.
Tensor with_sign(const Tensor& tensor, bool negative) {
  if (!is_usual_float(tensor.type)) return tensor;
  const auto width = static_cast<std::size_t>(bits_of(tensor.type)) / 8;
  Tensor result = tensor;
  result.data = Buffer::make(tensor.data.size(), [&](std::span<std::byte> out) {
    std::memcpy(out.data(), tensor.data.data(), out.size());
    for (std::size_t i = width - 1; i < out.size(); i += width)
      out[i] = negative ? out[i] | std::byte{0x80} : out[i] & std::byte{0x7f};
  });
  return result;
}

Tensor one_of(ElementType type) {
  if (type == ElementType::kFloat64) return make_tensor<double>(type, {}, {1.0});
  if (type == ElementType::kFloat16) return make_tensor<std::uint16_t>(type, {}, {0x3c00});
  if (type == ElementType::kBfloat16) return make_tensor<std::uint16_t>(type, {}, {0x3f80});
  return make_tensor<float>(ElementType::kFloat32, {}, {1.0F});
}

class Twin {
 public:
  explicit Twin(const Graph& graph) : twin_(graph) {}

  Graph run() {
    for (Node& node : twin_.nodes) rewrite(node);
    return std::move(twin_);
  }

 private:
  [[nodiscard]] bool is_float_node(const Node& node) const {
    return !node.outputs.empty() && node.outputs[0].valid() &&
           is_usual_float(twin_.value(node.outputs[0]).type.element);
  }

  /// The constant behind a port with all its signs alike; other values as they are.
  ValueId signed_constant(ValueId id, bool negative) {
    if (!id.valid() || !twin_.value(id).constant || !is_usual_float(twin_.value(id).type.element)) return id;
    const auto [entry, is_new] = constants_.try_emplace({id, negative});
    if (is_new) {
      Tensor tensor = with_sign(*twin_.value(id).constant, negative);
      entry->second = add_constant(twin_, fresh_name(), std::move(tensor));
    }
    return entry->second;
  }

  std::string fresh_name() {
    std::string name;
    do name = "twin constant " + std::to_string(next_++);
    while (std::ranges::any_of(twin_.values, [&](const Value& value) { return value.name == name; }));
    return name;
  }

  static void become(Node& node, const char* op_type) {
    node.op_type = op_type;
    node.attributes.clear();
  }

  void rewrite(Node& node) {
    if (!is_float_node(node)) return;
    static const std::set<std::string_view> kIdentities = {
        "Neg",  "Abs",  "Relu", "LeakyRelu", "PRelu", "HardSwish", "Elu",  "Celu",
        "Selu", "Tanh", "Erf",  "Gelu",      "Mish",  "Softsign",  "Clip", "Dropout"};
    static const std::set<std::string_view> kRaised = {"Sigmoid", "HardSigmoid", "Softplus"};
    const std::string op = node.op_type;
    if (kIdentities.contains(op)) {
      become(node, "Identity");
      node.inputs.resize(1);
    } else if (kRaised.contains(op)) {
      become(node, "Add");
      node.inputs = {node.inputs[0],
                     add_constant(twin_, fresh_name(), one_of(twin_.value(node.outputs[0]).type.element))};
      return;
    }
    if (op == "Sub") become(node, "Add");
    if (op == "Min") node.op_type = "Max";
    if (op == "ReduceMin") node.op_type = "ReduceMax";
    if (op == "Gemm")
      for (Attribute& attribute : node.attributes)
        if (auto* factor = std::get_if<float>(&attribute.value)) *factor = std::abs(*factor);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (op == "BatchNormalization" && i == 4) continue;  // the variance
      // x - mean becomes |x| + |mean|.
      node.inputs[i] = signed_constant(node.inputs[i], op == "BatchNormalization" && i == 3);
    }
  }

  Graph twin_;
  std::map<std::pair<ValueId, bool>, ValueId> constants_;
  int next_ = 0;
};

}  // namespace

Graph magnitude_twin(const Graph& graph) { return Twin(graph).run(); }

Tensor magnitudes_of(const Tensor& tensor) { return with_sign(tensor, false); }

}  // namespace collage
