#include "tests/gate/faults.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace collage::test {
namespace {

using Ints = std::vector<std::int64_t>;
using InGraph = std::function<bool(Graph&)>;

Node* node_of(Graph& graph, const std::string& op) {
  for (Node& node : graph.nodes)
    if (node.op_type == op) return &node;
  return nullptr;
}

template <class T>
void set(Node& node, const std::string& name, T value) {
  for (Attribute& attribute : node.attributes)
    if (attribute.name == name) {
      attribute.value = std::move(value);
      return;
    }
  node.attributes.push_back({name, std::move(value)});
  std::ranges::sort(node.attributes, {}, &Attribute::name);
}

/// The attribute of the first such operator takes another value.
template <class T>
InGraph attribute(const std::string& op, const std::string& name, T value) {
  return [=](Graph& graph) {
    Node* node = node_of(graph, op);
    if (node == nullptr) return false;
    set(*node, name, value);
    return true;
  };
}

InGraph other_op(const std::string& op, const std::string& other) {
  return [=](Graph& graph) {
    Node* node = node_of(graph, op);
    if (node == nullptr) return false;
    node->op_type = other;
    return true;
  };
}

/// The operator's input goes through as it is.
InGraph dropped(const std::string& op) {
  return [=](Graph& graph) {
    Node* node = node_of(graph, op);
    if (node == nullptr) return false;
    node->op_type = "Identity";
    node->inputs.resize(1);
    node->attributes.clear();
    return true;
  };
}

InGraph without_input(const std::string& op, std::size_t port) {
  return [=](Graph& graph) {
    Node* node = node_of(graph, op);
    if (node == nullptr || node->inputs.size() <= port) return false;
    if (port + 1 == node->inputs.size())
      node->inputs.pop_back();
    else
      node->inputs[port] = ValueId{};
    return true;
  };
}

InGraph swapped(const std::string& op, std::size_t a, std::size_t b) {
  return [=](Graph& graph) {
    Node* node = node_of(graph, op);
    if (node == nullptr || node->inputs.size() <= std::max(a, b)) return false;
    std::swap(node->inputs[a], node->inputs[b]);
    return true;
  };
}

/// Other elements in the float constant of a port.
InGraph weights(const std::string& op, std::size_t port,
                const std::function<void(std::vector<float>&, const Extents&)>& edit) {
  return [=](Graph& graph) {
    Node* node = node_of(graph, op);
    if (node == nullptr) return false;
    const Tensor* constant = constant_of(graph, input_of(*node, port));
    if (constant == nullptr || constant->type != ElementType::kFloat32) return false;
    const auto old = constant->data.as<float>();
    std::vector<float> values(old.begin(), old.end());
    edit(values, constant->extents);
    Tensor made = make_tensor<float>(ElementType::kFloat32, constant->extents, values);
    if (made == *constant) return false;
    node = node_of(graph, op);
    const ValueId id = add_constant(graph, "planted " + std::to_string(graph.values.size()), std::move(made));
    node_of(graph, op)->inputs[port] = id;
    return true;
  };
}

InGraph integers(const std::string& op, std::size_t port, const std::function<void(Ints&)>& edit) {
  return [=](Graph& graph) {
    Node* node = node_of(graph, op);
    const Tensor* constant = node == nullptr ? nullptr : constant_of(graph, input_of(*node, port));
    if (constant == nullptr) return false;
    Ints values = *integers_of(*constant);
    edit(values);
    const ValueId id = add_constant(graph, "planted " + std::to_string(graph.values.size()),
                                    make_tensor<std::int64_t>(ElementType::kInt64, constant->extents, values));
    node_of(graph, op)->inputs[port] = id;
    return true;
  };
}

bool transpose_square(std::vector<float>& values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) std::swap(values[i * n + j], values[j * n + i]);
  return true;
}

std::size_t extent(const Extents& extents, std::size_t axis) { return static_cast<std::size_t>(extents[axis]); }

std::vector<Fault> in_graph() {
  const auto flip = [](std::vector<float>& values, const Extents& extents) {
    const std::size_t size = extent(extents, 2) * extent(extents, 3);
    for (std::size_t k = 0; k + size <= values.size(); k += size)
      std::reverse(values.begin() + static_cast<std::ptrdiff_t>(k),
                   values.begin() + static_cast<std::ptrdiff_t>(k + size));
  };
  const auto drop_last_input_channel = [](std::vector<float>& values, const Extents& extents) {
    const std::size_t size = extent(extents, 2) * extent(extents, 3);
    const std::size_t row = extent(extents, 1) * size;
    for (std::size_t o = 0; o < extent(extents, 0); ++o)
      for (std::size_t i = 0; i < size; ++i) values[(o + 1) * row - size + i] = 0;
  };
  const auto drop_last_output_channel = [](std::vector<float>& values, const Extents& extents) {
    for (std::size_t i = 0; i < values.size() / extent(extents, 0); ++i) values[values.size() - 1 - i] = 0;
  };
  const auto rotate_outputs = [](std::vector<float>& values, const Extents& extents) {
    std::ranges::rotate(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / extent(extents, 0)));
  };
  const auto one_off = [](std::vector<float>& values, const Extents&) { values[values.size() / 2] += 0.05F; };
  const auto transposed = [](std::vector<float>& values, const Extents& extents) {
    transpose_square(values, extent(extents, 0));
  };
  const auto rounded = [](std::vector<float>& values, const Extents&) {
    for (float& value : values) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000U);
  };
  return {
      {"padding off by one", "conv", attribute("Conv", "pads", Ints{2, 1, 0, 1}), {}},
      {"last input channel dropped", "conv", weights("Conv", 1, drop_last_input_channel), {}},
      {"last output channel dropped", "conv", weights("Conv", 1, drop_last_output_channel), {}},
      {"bias dropped", "conv", without_input("Conv", 2), {}},
      {"one weight wrong", "conv", weights("Conv", 1, one_off), {}},
      {"kernel flipped", "conv", weights("Conv", 1, flip), {}},
      {"weights of 16 bits", "conv", weights("Conv", 1, rounded), {}},
      {"output channels rotated", "grouped conv", weights("Conv", 1, rotate_outputs), {}},
      {"bias of the next channel", "conv", weights("Conv", 2, rotate_outputs), {}},
      {"epilogue missing", "conv relu", dropped("Relu"), {}},
      {"epilogue is another", "conv relu", other_op("Relu", "Sigmoid"), {}},
      {"dilation ignored",
       "dilated conv",
       [](Graph& graph) {
         Node* node = node_of(graph, "Conv");
         set(*node, "dilations", Ints{1, 1});
         set(*node, "pads", Ints{1, 1, 1, 1});
         return true;
       },
       {}},
      {"stride begins elsewhere", "strided conv", attribute("Conv", "pads", Ints{0, 0, 2, 2}), {}},
      {"upper clip folded away", "conv relu6", without_input("Clip", 2), {}},
      {"clip folded away where the record stays below", "relu6", dropped("Clip"), {}},
      {"upper clip forgotten", "relu6", without_input("Clip", 2), {}},
      {"lower clip forgotten", "relu6", without_input("Clip", 1), {}},
      {"padding counted", "average", attribute("AveragePool", "count_include_pad", std::int64_t{1}), {}},
      {"pool is the other", "max pool", other_op("MaxPool", "AveragePool"), {}},
      {"window off by one", "max pool", attribute("MaxPool", "pads", Ints{2, 1, 0, 1}), {}},
      {"weights transposed", "matmul", weights("MatMul", 1, transposed), {}},
      {"alpha ignored", "gemm", attribute("Gemm", "alpha", 1.0F), {}},
      {"beta ignored", "gemm", attribute("Gemm", "beta", 1.0F), {}},
      {"transposition ignored", "gemm", attribute("Gemm", "transB", std::int64_t{0}), {}},
      {"sum is a difference", "add", other_op("Add", "Sub"), {}},
      {"operands swapped", "sub", swapped("Sub", 0, 1), {}},
      {"product is a sum", "mul", other_op("Mul", "Add"), {}},
      {"softmax along another axis", "softmax", attribute("Softmax", "axis", std::int64_t{2}), {}},
      {"epsilon of another", "layer norm", attribute("LayerNormalization", "epsilon", 1e-1F), {}},
      {"shift of the norm dropped", "layer norm", without_input("LayerNormalization", 2), {}},
      {"sigmoid approximated by lines", "sigmoid", other_op("Sigmoid", "HardSigmoid"), {}},
      {"tanh is softsign", "tanh", other_op("Tanh", "Softsign"), {}},
      {"gelu is relu", "gelu", other_op("Gelu", "Relu"), {}},
      {"slope of another", "leaky", attribute("LeakyRelu", "alpha", 0.01F), {}},
      {"hard swish is its sigmoid", "hard swish", other_op("HardSwish", "HardSigmoid"), {}},
      {"slopes of the next channel", "prelu", weights("PRelu", 1, rotate_outputs), {}},
      {"parts in the wrong order", "concat", swapped("Concat", 0, 1), {}},
      {"slice off by one",
       "slice",
       [](Graph& graph) {
         return integers("Slice", 1, [](Ints& v) { --v[0]; })(graph) &&
                integers("Slice", 2, [](Ints& v) { --v[0]; })(graph);
       },
       {}},
      {"index off by one", "gather", integers("Gather", 1, [](Ints& v) { ++v[2]; }), {}},
      {"not transposed", "transpose", attribute("Transpose", "perm", Ints{0, 1, 2, 3}), {}},
      {"padded with zeros", "pad", without_input("Pad", 2), {}},
      {"padded with the edge", "pad", attribute("Pad", "mode", std::string("edge")), {}},
      {"mean is a sum", "mean", other_op("ReduceMean", "ReduceSum"), {}},
      {"largest is the least", "max", other_op("ReduceMax", "ReduceMin"), {}},
      {"epsilon of the batch norm ignored", "batch norm", attribute("BatchNormalization", "epsilon", 0.1F), {}},
      {"mean of the next channel", "batch norm", weights("BatchNormalization", 3, rotate_outputs), {}},
      {"corners aligned",
       "resize",
       attribute("Resize", "coordinate_transformation_mode", std::string("align_corners")),
       {}},
      {"nearest for linear", "resize", attribute("Resize", "mode", std::string("nearest")), {}},
      {"kernel of the deconvolution flipped", "deconv", weights("ConvTranspose", 1, flip), {}},
      {"choices swapped", "where", swapped("Where", 1, 2), {}},
      {"sum begins late", "cumsum", attribute("CumSum", "exclusive", std::int64_t{1}), {}},
      {"depth in the other order", "to depth", attribute("DepthToSpace", "mode", std::string("CRD")), {}},
      {"branch dropped", "residual", dropped("Add"), {}},
      {"index of the least", "arg max", other_op("ArgMax", "ArgMin"), {}},
      {"epsilon of the instance norm", "instance norm", attribute("InstanceNormalization", "epsilon", 0.1F), {}},
      {"row of the next word", "embedding", weights("Gather", 0, rotate_outputs), {}},
  };
}

float largest(std::span<const float> values) {
  float result = 0;
  for (const float value : values) result = std::max(result, std::abs(value));
  return result;
}

bool contains_negative_zero(std::span<const float> values) {
  return std::ranges::any_of(values, [](float v) { return v == 0 && std::signbit(v); });
}

std::vector<Fault> at_run() {
  const auto fault = [](const char* name, const char* network, std::function<void(FaultyRun&)> spoil,
                        bool is_late = false) {
    return Fault{.name = name, .network = network, .in_graph = {}, .at_run = std::move(spoil), .is_late = is_late};
  };
  return {
      fault("last element wrong", "conv relu", [](FaultyRun& r) { r.out.back() += 1; }),
      fault("one sign wrong", "add", [](FaultyRun& r) { r.out[r.out.size() / 3] *= -1; }),
      fault("two elements swapped", "mul", [](FaultyRun& r) { std::swap(r.out[0], r.out[r.out.size() / 2]); }),
      fault("shifted by one", "tanh", [](FaultyRun& r) { std::ranges::rotate(r.out, r.out.begin() + 1); }),
      fault("one per cent too large", "matmul",
            [](FaultyRun& r) {
              for (float& value : r.out) value *= 1.01F;
            }),
      fault("NaN in one element", "softmax", [](FaultyRun& r) { r.out[1] = std::numeric_limits<float>::quiet_NaN(); }),
      fault("wrong beyond the recorded range", "conv",
            [](FaultyRun& r) {
              if (largest(r.x) > 1.5F * r.largest_recorded) r.out[0] = 0;
            }),
      fault("saturates at the recorded range", "leaky",
            [](FaultyRun& r) {
              for (float& value : r.out) value = std::min(value, 1.01F * r.largest_recorded);
            }),
      fault("wrong at negative zeros", "hard swish",
            [](FaultyRun& r) {
              if (contains_negative_zero(r.x)) r.out[0] += 1;
            }),
      fault("NaN at denormals", "sigmoid",
            [](FaultyRun& r) {
              for (const float value : r.x)
                if (value != 0 && std::abs(value) < 1e-38F) r.out[0] = std::numeric_limits<float>::quiet_NaN();
            }),
      fault("wrong at ties", "max pool",
            [](FaultyRun& r) {
              for (std::size_t i = 1; i < r.x.size(); ++i)
                if (r.x[i] == r.x[i - 1]) r.out[0] += 1;
            }),
      fault("outputs of the first run", "residual",
            [](FaultyRun& r) {
              if (r.kept.empty()) r.kept.assign(r.out.begin(), r.out.end());
              std::ranges::copy(r.kept, r.out.begin());
            }),
      fault("outputs of the run before", "gelu",
            [](FaultyRun& r) {
              std::vector<float> now(r.out.begin(), r.out.end());
              if (!r.kept.empty()) std::ranges::copy(r.kept, r.out.begin());
              r.kept = std::move(now);
            }),
      fault("keyed by the first element", "prelu",
            [](FaultyRun& r) {
              // A cache whose key is too short: right as long as the first elements differ.
              std::vector<float> entry(r.out.begin(), r.out.end());
              entry.push_back(std::trunc(r.x[0] / 1000));
              if (!r.kept.empty() && r.kept.back() == entry.back())
                std::copy_n(r.kept.begin(), r.out.size(), r.out.begin());
              if (r.kept.empty()) r.kept = std::move(entry);
            }),
      fault("wrong at the second run", "conv relu",
            [](FaultyRun& r) {
              if (r.run >= 2) r.out.back() += 1;
            }),
      fault(
          "wrong after many runs", "conv",
          [](FaultyRun& r) {
            if (r.run >= 9) r.out.back() += 1;
          },
          true),
      fault("tail not written after the first run", "sub",
            [](FaultyRun& r) {
              if (r.run > 1) r.out.back() = std::numeric_limits<float>::quiet_NaN();
            }),
      fault("only the first row", "layer norm",
            [](FaultyRun& r) {
              for (std::size_t i = r.width; i < r.out.size(); ++i) r.out[i] = r.out[i % r.width];
            }),
      fault("whole numbers", "batch norm",
            [](FaultyRun& r) {
              for (float& value : r.out) value = std::round(value);
            }),
      fault("saturated in 16 bits", "mul",
            [](FaultyRun& r) {
              for (float& value : r.out) value = std::clamp(value, -200.0F, 200.0F);
            }),
      fault("zero where it is small", "exp",
            [](FaultyRun& r) {
              for (float& value : r.out) value = std::abs(value) < 0.2F ? 0.0F : value;
            }),
      fault("different at every run", "gemm", [](FaultyRun& r) { r.out[0] += 0.1F * static_cast<float>(r.run); }),
      fault("infinite where it is large", "deconv",
            [](FaultyRun& r) {
              for (float& value : r.out)
                if (value > 8 * r.largest_recorded) value = std::numeric_limits<float>::infinity();
            }),
      fault("accumulated in 16 bits", "strided conv",
            [](FaultyRun& r) {
              for (float& value : r.out)
                value = std::bit_cast<float>((std::bit_cast<std::uint32_t>(value)) & 0xffff0000U);
            }),
      fault("transposed within the last plane", "concat",
            [](FaultyRun& r) { std::reverse(r.out.end() - static_cast<std::ptrdiff_t>(r.width), r.out.end()); }),
      fault("magnitudes only", "sub",
            [](FaultyRun& r) {
              for (float& value : r.out) value = std::abs(value);
            }),
  };
}

}  // namespace

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> list = in_graph();
    for (Fault& fault : at_run()) list.push_back(std::move(fault));
    return list;
  }();
  return all;
}

}  // namespace collage::test
