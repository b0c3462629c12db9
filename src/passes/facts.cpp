// Answers about nodes, shapes and constants that passes share.
#include "passes/facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace collage {

std::optional<Extents> static_extents(const Graph& graph, ValueId id) {
  if (!id.valid() || !graph.value(id).type.is_static()) return std::nullopt;
  return graph.value(id).type.extents();
}

std::optional<std::size_t> rank_of(const Graph& graph, ValueId id) {
  if (!id.valid() || !graph.value(id).type.shape) return std::nullopt;
  return graph.value(id).type.shape->size();
}

bool same_type(const Graph& graph, ValueId a, ValueId b) {
  const ValueType& first = graph.value(a).type;
  const ValueType& second = graph.value(b).type;
  if (first.kind != ValueKind::kTensor || second.kind != ValueKind::kTensor) return false;
  if (first.element != second.element || !first.shape || !second.shape) return false;
  return std::equal(first.shape->begin(), first.shape->end(), second.shape->begin(), second.shape->end(),
                    [](const Dim& x, const Dim& y) {
                      if (x.is_static() && y.is_static()) return x.extent == y.extent;
                      return !x.symbol.empty() && x.symbol == y.symbol;
                    });
}

ElementType element_of(const Graph& graph, ValueId id) {
  return id.valid() ? graph.value(id).type.element : ElementType::kUndefined;
}

std::size_t bytes_of(const Graph& graph, ValueId id) {
  const auto extents = static_extents(graph, id);
  return extents ? byte_count(element_of(graph, id), *extents) : 0;
}

std::optional<Integers> integers_of(const Graph& graph, ValueId id) {
  const Tensor* constant = constant_of(graph, id);
  if (constant == nullptr) return std::nullopt;
  return integers_of(*constant);
}

std::optional<std::vector<double>> floats_of(const Graph& graph, ValueId id) {
  const Tensor* constant = constant_of(graph, id);
  if (constant == nullptr || constant->type != ElementType::kFloat32) return std::nullopt;
  return floats_of(*constant);
}

std::optional<double> scalar_of(const Graph& graph, ValueId id) {
  // Larger constants that happen to be uniform are rare and dear to scan each time.
  constexpr std::int64_t kMaxElements = 4096;
  const Tensor* constant = constant_of(graph, id);
  if (constant == nullptr || constant->size() < 1 || constant->size() > kMaxElements) return std::nullopt;
  const auto values = floats_of(*constant);
  if (!values) return std::nullopt;
  if (!std::all_of(values->begin(), values->end(), [&](double v) { return v == values->front(); })) return std::nullopt;
  return values->front();
}

bool is_scalar(const Graph& graph, ValueId id, double expected) {
  // Exporters round constants such as 1/sqrt(2) in several ways; a few units in the last place is still that number.
  constexpr double kTolerance = 2e-6;
  const auto value = scalar_of(graph, id);
  return value && std::abs(*value - expected) <= kTolerance * std::abs(expected);
}

Tensor integer_tensor(const Integers& values) {
  return make_tensor(ElementType::kInt64, {static_cast<std::int64_t>(values.size())}, values);
}

Tensor float_tensor(const Extents& extents, const std::vector<double>& values) {
  std::vector<float> narrow(values.begin(), values.end());
  return make_tensor(ElementType::kFloat32, extents, narrow);
}

Tensor with_extents(const Tensor& tensor, Extents extents) {
  Tensor result = tensor;
  result.extents = std::move(extents);
  return result;
}

void remove_attribute(Node& node, const std::string& name) {
  std::erase_if(node.attributes, [&](const Attribute& attribute) { return attribute.name == name; });
}

void set_attribute(Node& node, const std::string& name, AttributeValue value) {
  remove_attribute(node, name);
  node.attributes.push_back(Attribute{.name = name, .value = std::move(value)});
  std::sort(node.attributes.begin(), node.attributes.end(),
            [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
}

std::optional<std::size_t> normal_axis(std::int64_t axis, std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  if (axis < 0) axis += extent;
  if (axis < 0 || axis >= extent) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

Permutation inverse(const Permutation& perm) {
  Permutation result(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    result[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return result;
}

Permutation composed(const Permutation& first, const Permutation& second) { return permuted(first, second); }

bool is_identity(const Permutation& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

bool keeps_bytes(const Extents& extents, const Permutation& perm) {
  std::int64_t last = -1;
  for (const std::int64_t from : perm) {
    if (extents[static_cast<std::size_t>(from)] == 1) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

std::optional<Permutation> permutation_of(const Graph& graph, const Node& node) {
  if (const auto* perm = find_attribute<Integers>(node, "perm")) return *perm;
  const auto rank = rank_of(graph, input_of(node, 0));
  if (!rank) return std::nullopt;
  Permutation reversed(*rank);
  for (std::size_t i = 0; i < *rank; ++i) reversed[i] = static_cast<std::int64_t>(*rank - 1 - i);
  return reversed;
}

ValueType permuted(const ValueType& type, const Permutation& perm) {
  ValueType result = type;
  if (type.shape) result.shape = permuted(*type.shape, perm);
  return result;
}

Tensor permuted(const Tensor& tensor, const Permutation& perm) {
  const std::size_t rank = perm.size();
  Tensor result{.type = tensor.type, .extents = permuted(tensor.extents, perm), .data = {}, .strings = {}};
  if (keeps_bytes(tensor.extents, perm)) {
    result.data = tensor.data;
    return result;
  }
  std::vector<std::size_t> strides(rank, 1);
  for (std::size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * static_cast<std::size_t>(tensor.extents[i]);
  const std::vector<std::size_t> steps = permuted(strides, perm);
  const std::size_t element = static_cast<std::size_t>(bits_of(tensor.type)) / 8;
  const auto count = static_cast<std::size_t>(tensor.size());
  result.data = Buffer::make(count * element, [&](std::span<std::byte> out) {
    std::vector<std::int64_t> index(rank, 0);
    std::size_t from = 0;
    for (std::size_t to = 0; to < count; ++to) {
      std::memcpy(out.data() + to * element, tensor.data.data() + from * element, element);
      for (std::size_t d = rank; d-- > 0;) {
        from += steps[d];
        if (++index[d] < result.extents[d]) break;
        from -= steps[d] * static_cast<std::size_t>(result.extents[d]);
        index[d] = 0;
      }
    }
  });
  return result;
}

bool is_reshape_like(const Node& node) {
  return is_op(node, "Reshape") || is_op(node, "Flatten") || is_op(node, "Squeeze") || is_op(node, "Unsqueeze");
}

bool is_random(const Node& node) {
  static constexpr std::array kRandom = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                         "RandomUniformLike", "Multinomial",      "Bernoulli"};
  if (!node.domain.empty()) return false;
  return std::any_of(kRandom.begin(), kRandom.end(), [&](const char* name) { return node.op_type == name; }) ||
         (node.op_type == "Dropout" && node.inputs.size() > 2 && node.inputs[2].valid());
}

bool rounds(const Graph& graph) {
  static constexpr std::array kRounding = {"Floor", "Ceil", "Round", "QuantizeLinear", "DynamicQuantizeLinear", "Mod"};
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (is_op(node, "Cast"))
      return is_float(element_of(graph, node.inputs[0])) && is_integer(element_of(graph, node.outputs[0]));
    return node.domain.empty() &&
           std::any_of(kRounding.begin(), kRounding.end(), [&](const char* op) { return node.op_type == op; });
  });
}

}  // namespace collage
