#include "tests/passes/tiny_evaluator.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "passes/facts.h"

namespace collage::test {
namespace {

using Arrays = std::vector<Array>;

std::int64_t count(const Extents& extents) { return element_count(extents); }

Extents strides_of(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

/// Calls visit(index) for every index of the extents in row-major order.
void for_each(const Extents& extents, const std::function<void(const Extents&)>& visit) {
  Extents index(extents.size(), 0);
  for (std::int64_t i = 0; i < count(extents); ++i) {
    visit(index);
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (++index[d] < extents[d]) break;
      index[d] = 0;
    }
  }
}

std::size_t offset_of(const Extents& index, const Extents& extents) {
  const Extents strides = strides_of(extents);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) offset += index[d] * strides[d];
  return static_cast<std::size_t>(offset);
}

/// The element of an array that broadcasts to a larger index.
double broadcast_at(const Array& array, const Extents& index) {
  const std::size_t skip = index.size() - array.extents.size();
  Extents own(array.extents.size());
  for (std::size_t d = 0; d < own.size(); ++d) own[d] = array.extents[d] == 1 ? 0 : index[d + skip];
  return array.data[offset_of(own, array.extents)];
}

Extents broadcast_extents(const Arrays& inputs) {
  Extents extents;
  for (const Array& input : inputs) {
    if (input.extents.size() > extents.size())
      extents.insert(extents.begin(), input.extents.size() - extents.size(), 1);
    const std::size_t skip = extents.size() - input.extents.size();
    for (std::size_t d = 0; d < input.extents.size(); ++d)
      if (input.extents[d] != 1) extents[d + skip] = input.extents[d];
  }
  return extents;
}

Array zip(const Arrays& inputs, const std::function<double(double, double)>& f) {
  Array result{.extents = broadcast_extents(inputs), .data = {}};
  for_each(result.extents, [&](const Extents& index) {
    double value = broadcast_at(inputs[0], index);
    for (std::size_t i = 1; i < inputs.size(); ++i) value = f(value, broadcast_at(inputs[i], index));
    result.data.push_back(value);
  });
  return result;
}

Array map(const Array& input, const std::function<double(double)>& f) {
  Array result = input;
  for (double& value : result.data) value = f(value);
  return result;
}

const std::map<std::string, std::function<double(double, double)>>& binary() {
  static const std::map<std::string, std::function<double(double, double)>> kTable = {
      {"Add", [](double a, double b) { return a + b; }},
      {"Sum", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Max", [](double a, double b) { return std::max(a, b); }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"PRelu", [](double a, double b) { return a < 0 ? a * b : a; }}};
  return kTable;
}

double gelu(const Node& node, double x) {
  if (attribute_or<std::string>(node, "approximate", "none") == "none")
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

std::optional<Array> unary(const Node& node, const Arrays& inputs) {
  const auto attribute = [&](const char* name, float fallback) {
    return double{attribute_or<float>(node, name, fallback)};
  };
  const std::string& op = node.op_type;
  const auto with = [&](const std::function<double(double)>& f) { return map(inputs.at(0), f); };
  if (op == "Identity" || op == "Cast" || op == "Dropout") return inputs.at(0);
  if (op == "Relu") return with([](double x) { return std::max(x, 0.0); });
  if (op == "LeakyRelu") return with([a = attribute("alpha", 0.01F)](double x) { return x < 0 ? a * x : x; });
  if (op == "Sqrt") return with([](double x) { return std::sqrt(x); });
  if (op == "Reciprocal") return with([](double x) { return 1 / x; });
  if (op == "Erf") return with([](double x) { return std::erf(x); });
  if (op == "Tanh") return with([](double x) { return std::tanh(x); });
  if (op == "Exp") return with([](double x) { return std::exp(x); });
  if (op == "Log") return with([](double x) { return std::log(x); });
  if (op == "Softplus") return with([](double x) { return std::log1p(std::exp(x)); });
  if (op == "Mish") return with([](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
  if (op == "Gelu") return with([&](double x) { return gelu(node, x); });
  const auto gate = [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); };
  if (op == "HardSigmoid")
    return with([&, a = attribute("alpha", 0.2F), b = attribute("beta", 0.5F)](double x) { return gate(x, a, b); });
  if (op == "HardSwish") return with([&](double x) { return x * gate(x, 1.0 / 6, 0.5); });
  if (op == "Clip")
    return with([&](double x) {
      if (inputs.size() > 1 && !inputs[1].data.empty()) x = std::max(x, inputs[1].data[0]);
      return inputs.size() > 2 ? std::min(x, inputs[2].data[0]) : x;
    });
  return std::nullopt;
}

Integers whole(const Array& array) { return Integers(array.data.begin(), array.data.end()); }

Array transposed(const Array& input, const Permutation& perm) {
  Array result{.extents = permuted(input.extents, perm), .data = {}};
  const Permutation back = inverse(perm);
  for_each(result.extents, [&](const Extents& index) {
    result.data.push_back(input.data[offset_of(permuted(index, back), input.extents)]);
  });
  return result;
}

Array concatenated(const Arrays& inputs, std::size_t axis) {
  Array result{.extents = inputs[0].extents, .data = {}};
  result.extents[axis] = 0;
  for (const Array& input : inputs) result.extents[axis] += input.extents[axis];
  for_each(result.extents, [&](const Extents& index) {
    Extents at = index;
    for (const Array& input : inputs) {
      if (at[axis] < input.extents[axis]) {
        result.data.push_back(input.data[offset_of(at, input.extents)]);
        return;
      }
      at[axis] -= input.extents[axis];
    }
  });
  return result;
}

Array padded(const Array& input, const Integers& pads) {
  Array result{.extents = input.extents, .data = {}};
  const std::size_t rank = input.extents.size();
  for (std::size_t d = 0; d < rank; ++d) result.extents[d] += pads[d] + pads[d + rank];
  for_each(result.extents, [&](const Extents& index) {
    Extents at = index;
    bool inside = true;
    for (std::size_t d = 0; d < rank; ++d) {
      at[d] -= pads[d];
      inside = inside && at[d] >= 0 && at[d] < input.extents[d];
    }
    result.data.push_back(inside ? input.data[offset_of(at, input.extents)] : 0.0);
  });
  return result;
}

/// Starts and steps of a Slice whose output extents are known.
Array sliced(const Arrays& inputs, const Extents& extents) {
  Array result{.extents = extents, .data = {}};
  Extents first(extents.size(), 0);
  Extents step(extents.size(), 1);
  for (std::size_t i = 0; i < inputs[1].data.size(); ++i) {
    const std::size_t axis = inputs.size() > 3 ? normal_axis(whole(inputs[3])[i], extents.size()).value() : i;
    const std::int64_t start = whole(inputs[1])[i];
    first[axis] = start < 0 ? start + inputs[0].extents[axis] : start;
    if (inputs.size() > 4) step[axis] = whole(inputs[4])[i];
  }
  for_each(extents, [&](const Extents& index) {
    Extents at = first;
    for (std::size_t d = 0; d < at.size(); ++d) at[d] += index[d] * step[d];
    result.data.push_back(inputs[0].data[offset_of(at, inputs[0].extents)]);
  });
  return result;
}

Array reduced_mean(const Array& input, const Integers& axes, bool keep) {
  std::vector<bool> gone(input.extents.size(), false);
  for (const std::int64_t axis : axes) gone[normal_axis(axis, gone.size()).value()] = true;
  Array kept{.extents = input.extents, .data = {}};
  for (std::size_t d = 0; d < gone.size(); ++d)
    if (gone[d]) kept.extents[d] = 1;
  kept.data.assign(static_cast<std::size_t>(count(kept.extents)), 0.0);
  const double share = static_cast<double>(count(kept.extents)) / static_cast<double>(count(input.extents));
  for_each(input.extents, [&](const Extents& index) {
    Extents at = index;
    for (std::size_t d = 0; d < gone.size(); ++d)
      if (gone[d]) at[d] = 0;
    kept.data[offset_of(at, kept.extents)] += share * input.data[offset_of(index, input.extents)];
  });
  if (keep) return kept;
  Extents left;
  for (std::size_t d = 0; d < gone.size(); ++d)
    if (!gone[d]) left.push_back(input.extents[d]);
  kept.extents = left;
  return kept;
}

/// Windows of two-dimensional convolutions and pools: visit(output index, input row, input column, kernel row, column).
struct Window {
  Integers kernel, strides, dilations, pads;
  Window(const Node& node, Integers shape)
      : kernel(std::move(shape)),
        strides(attribute_or<Integers>(node, "strides", {1, 1})),
        dilations(attribute_or<Integers>(node, "dilations", {1, 1})),
        pads(attribute_or<Integers>(node, "pads", {0, 0, 0, 0})) {}
  std::int64_t extent(std::int64_t input, std::size_t d) const {
    return (input + pads[d] + pads[d + 2] - (kernel[d] - 1) * dilations[d] - 1) / strides[d] + 1;
  }
  std::int64_t at(std::int64_t out, std::int64_t k, std::size_t d) const {
    return out * strides[d] - pads[d] + k * dilations[d];
  }
};

Array convolved(const Node& node, const Arrays& inputs) {
  const Array& x = inputs[0];
  const Array& w = inputs[1];
  const Window window(node, {w.extents[2], w.extents[3]});
  const auto groups = attribute_or<std::int64_t>(node, "group", 1);
  Array y{.extents = {x.extents[0], w.extents[0], window.extent(x.extents[2], 0), window.extent(x.extents[3], 1)},
          .data = {}};
  for_each(y.extents, [&](const Extents& out) {
    double sum = inputs.size() > 2 ? inputs[2].data[static_cast<std::size_t>(out[1])] : 0.0;
    const std::int64_t first = out[1] / (w.extents[0] / groups) * w.extents[1];
    for_each({w.extents[1], w.extents[2], w.extents[3]}, [&](const Extents& k) {
      const std::int64_t row = window.at(out[2], k[1], 0);
      const std::int64_t column = window.at(out[3], k[2], 1);
      if (row < 0 || column < 0 || row >= x.extents[2] || column >= x.extents[3]) return;
      sum += x.data[offset_of({out[0], first + k[0], row, column}, x.extents)] *
             w.data[offset_of({out[1], k[0], k[1], k[2]}, w.extents)];
    });
    y.data.push_back(sum);
  });
  return y;
}

Array convolved_back(const Node& node, const Arrays& inputs) {
  const Array& x = inputs[0];
  const Array& w = inputs[1];
  const Window window(node, {w.extents[2], w.extents[3]});
  const auto groups = attribute_or<std::int64_t>(node, "group", 1);
  const auto extent = [&](std::size_t d) {
    return (x.extents[d + 2] - 1) * window.strides[d] + (window.kernel[d] - 1) * window.dilations[d] + 1 -
           window.pads[d] - window.pads[d + 2];
  };
  Array y{.extents = {x.extents[0], w.extents[1] * groups, extent(0), extent(1)}, .data = {}};
  for_each(y.extents, [&](const Extents& out) {
    y.data.push_back(inputs.size() > 2 ? inputs[2].data[static_cast<std::size_t>(out[1])] : 0.0);
  });
  for_each(x.extents, [&](const Extents& in) {
    const std::int64_t group = in[1] / (x.extents[1] / groups);
    for_each({w.extents[1], w.extents[2], w.extents[3]}, [&](const Extents& k) {
      const std::int64_t row = window.at(in[2], k[1], 0);
      const std::int64_t column = window.at(in[3], k[2], 1);
      if (row < 0 || column < 0 || row >= y.extents[2] || column >= y.extents[3]) return;
      y.data[offset_of({in[0], group * w.extents[1] + k[0], row, column}, y.extents)] +=
          x.data[offset_of(in, x.extents)] * w.data[offset_of({in[1], k[0], k[1], k[2]}, w.extents)];
    });
  });
  return y;
}

Array average_pooled(const Node& node, const Array& x) {
  const Window window(node, *find_attribute<Integers>(node, "kernel_shape"));
  const bool counts_padding = attribute_or<std::int64_t>(node, "count_include_pad", 0) != 0;
  Array y{.extents = {x.extents[0], x.extents[1], window.extent(x.extents[2], 0), window.extent(x.extents[3], 1)},
          .data = {}};
  for_each(y.extents, [&](const Extents& out) {
    double sum = 0;
    int inside = 0;
    for_each(window.kernel, [&](const Extents& k) {
      const std::int64_t row = window.at(out[2], k[0], 0);
      const std::int64_t column = window.at(out[3], k[1], 1);
      if (row < 0 || column < 0 || row >= x.extents[2] || column >= x.extents[3]) return;
      sum += x.data[offset_of({out[0], out[1], row, column}, x.extents)];
      ++inside;
    });
    y.data.push_back(sum / static_cast<double>(counts_padding ? count(window.kernel) : inside));
  });
  return y;
}

Array batch_normalised(const Node& node, const Arrays& in) {
  Array y = in[0];
  const double epsilon = attribute_or<float>(node, "epsilon", 1e-5F);
  const auto channels = static_cast<std::size_t>(y.extents[1]);
  const std::size_t inner = y.data.size() / channels / static_cast<std::size_t>(y.extents[0]);
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    const std::size_t c = i / inner % channels;
    y.data[i] = (y.data[i] - in[3].data[c]) / std::sqrt(in[4].data[c] + epsilon) * in[1].data[c] + in[2].data[c];
  }
  return y;
}

Array layer_normalised(const Node& node, const Arrays& in) {
  const std::size_t rank = in[0].extents.size();
  const auto axis = normal_axis(attribute_or<std::int64_t>(node, "axis", -1), rank).value();
  Integers axes;
  for (std::size_t d = axis; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
  const auto sub = [](double a, double b) { return a - b; };
  const auto mul = [](double a, double b) { return a * b; };
  const Array centred = zip({in[0], reduced_mean(in[0], axes, true)}, sub);
  const Array variance = reduced_mean(zip({centred, centred}, mul), axes, true);
  const double epsilon = attribute_or<float>(node, "epsilon", 1e-5F);
  const Array inverse_deviation = map(variance, [&](double v) { return 1 / std::sqrt(v + epsilon); });
  Array y = zip({zip({centred, inverse_deviation}, mul), in[1]}, mul);
  return in.size() > 2 ? zip({y, in[2]}, binary().at("Add")) : y;
}

Array multiplied(const Array& a, const Array& b, bool trans_a, bool trans_b) {
  const Array left = trans_a ? transposed(a, {1, 0}) : a;
  const Array right = trans_b ? transposed(b, {1, 0}) : b;
  Array y{.extents = {left.extents[0], right.extents[1]}, .data = {}};
  for_each(y.extents, [&](const Extents& out) {
    double sum = 0;
    for (std::int64_t k = 0; k < left.extents[1]; ++k)
      sum += left.data[offset_of({out[0], k}, left.extents)] * right.data[offset_of({k, out[1]}, right.extents)];
    y.data.push_back(sum);
  });
  return y;
}

Array gemm(const Node& node, const Arrays& in) {
  Array y = multiplied(in[0], in[1], attribute_or<std::int64_t>(node, "transA", 0) != 0,
                       attribute_or<std::int64_t>(node, "transB", 0) != 0);
  y = map(y, [&](double v) { return v * double{attribute_or<float>(node, "alpha", 1.0F)}; });
  return in.size() > 2 ? zip({y, in[2]}, binary().at("Add")) : y;
}

std::optional<Array> moved(const Graph& graph, const Node& node, const Arrays& inputs) {
  const auto axis = [&] {
    return normal_axis(*find_attribute<std::int64_t>(node, "axis"), inputs[0].extents.size()).value();
  };
  if (node.op_type == "Transpose") return transposed(inputs[0], *permutation_of(graph, node));
  if (node.op_type == "Concat") return concatenated(inputs, axis());
  if (node.op_type == "Pad") return padded(inputs[0], whole(inputs[1]));
  if (node.op_type == "Slice") return sliced(inputs, graph.value(node.outputs[0]).type.extents());
  if (is_reshape_like(node)) return Array{graph.value(node.outputs[0]).type.extents(), inputs[0].data};
  if (node.op_type == "Expand")
    return zip(
        {inputs[0], Array{whole(inputs[1]), std::vector<double>(static_cast<std::size_t>(count(whole(inputs[1]))), 0)}},
        [](double a, double) { return a; });
  return std::nullopt;
}

std::optional<Array> computed(const Graph& graph, const Node& node, const Arrays& inputs) {
  if (const auto f = binary().find(node.op_type); f != binary().end()) return zip(inputs, f->second);
  if (auto result = unary(node, inputs)) return result;
  if (auto result = moved(graph, node, inputs)) return result;
  const std::string& op = node.op_type;
  if (op == "Conv") return convolved(node, inputs);
  if (op == "ConvTranspose") return convolved_back(node, inputs);
  if (op == "AveragePool") return average_pooled(node, inputs[0]);
  if (op == "GlobalAveragePool") return reduced_mean(inputs[0], {2, 3}, true);
  if (op == "ReduceMean")
    return reduced_mean(inputs[0], whole(inputs[1]), attribute_or<std::int64_t>(node, "keepdims", 1) != 0);
  if (op == "BatchNormalization") return batch_normalised(node, inputs);
  if (op == "LayerNormalization") return layer_normalised(node, inputs);
  if (op == "MatMul") return multiplied(inputs[0], inputs[1], false, false);
  if (op == "Gemm") return gemm(node, inputs);
  return std::nullopt;
}

Array array_of(const Tensor& tensor) {
  if (const auto floats = floats_of(tensor)) return Array{tensor.extents, *floats};
  const auto integers = integers_of(tensor).value();
  return Array{tensor.extents, std::vector<double>(integers.begin(), integers.end())};
}

}  // namespace

Result<std::map<std::string, Array>> evaluate(const Graph& graph, const std::map<std::string, Array>& inputs) {
  std::map<std::string, Array> values = inputs;
  for (const Value& value : graph.values)
    if (value.constant) values[value.name] = array_of(*value.constant);
  for (const Node& node : graph.nodes) {
    Arrays arrays;
    for (const ValueId input : node.inputs)
      arrays.push_back(input.valid() ? values.at(graph.value(input).name) : Array{{0}, {}});
    auto result = computed(graph, node, arrays);
    if (!result) return fail(ExitCode::kUnsupported, "test/unknown-operator", node.name, node.op_type);
    values[graph.value(node.outputs.at(0)).name] = std::move(*result);
  }
  return values;
}

Evaluator tiny_evaluator() {
  return [](const Graph& graph) -> Result<std::vector<Tensor>> {
    COLLAGE_TRY(const auto values, evaluate(graph, {}));
    std::vector<Tensor> results;
    for (const ValueId output : graph.outputs) {
      const Array& array = values.at(graph.value(output).name);
      if (is_integer(graph.value(output).type.element))
        results.push_back(with_extents(integer_tensor(whole(array)), array.extents));
      else
        results.push_back(float_tensor(array.extents, array.data));
    }
    return results;
  };
}

}  // namespace collage::test
