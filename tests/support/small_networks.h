// Small computations with random weights that any backend can run, each in several shapes: what faults are planted in.
// A network is a graph with static shapes, one f32 input "x" of rank 4 (or as its name says), and at most four nodes.
#pragma once

#include <map>

#include "ir/graph.h"
#include "tests/support/dice.h"

namespace collage::testing_support {

/// Like GraphBuilder, with weights that are not zero.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(std::uint64_t seed) : dice_(seed) { graph_.opsets[""] = 26; }

  ValueId input(const std::string& name, const Extents& extents, ElementType type = ElementType::kFloat32) {
    graph_.inputs.push_back(add_value(graph_, name, ValueType::tensor(type, extents)));
    return graph_.inputs.back();
  }
  /// In [-1, 1) * scale + offset.
  ValueId weight(const Extents& extents, float scale = 0.5F, float offset = 0.0F) {
    std::vector<float> values(static_cast<std::size_t>(element_count(extents)));
    for (float& value : values) value = offset + scale * (static_cast<float>(dice_.below(2000)) / 1000.0F - 1.0F);
    return add_constant(graph_, "", make_tensor<float>(ElementType::kFloat32, extents, values));
  }
  ValueId constant(Tensor tensor) { return add_constant(graph_, "", std::move(tensor)); }
  ValueId scalar(float value) {
    return add_constant(graph_, "", make_tensor<float>(ElementType::kFloat32, {}, {value}));
  }
  ValueId floats(const std::vector<float>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return add_constant(graph_, "", make_tensor<float>(ElementType::kFloat32, {count}, values));
  }
  ValueId integers(const std::vector<std::int64_t>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return add_constant(graph_, "", make_tensor<std::int64_t>(ElementType::kInt64, {count}, values));
  }
  ValueId add(const std::string& op, std::vector<ValueId> inputs, const Extents& extents,
              std::vector<Attribute> attributes = {}, ElementType type = ElementType::kFloat32) {
    const std::string index = std::to_string(graph_.nodes.size());
    const ValueId made = add_value(graph_, "y" + index, ValueType::tensor(type, extents));
    Node node{.name = "n" + index, .op_type = op, .inputs = std::move(inputs), .outputs = {made}};
    node.attributes = std::move(attributes);
    add_node(graph_, std::move(node));
    return made;
  }
  /// Outputs of these types; their shapes are left to shape inference.
  std::vector<ValueId> add_outputs(const std::string& op, std::vector<ValueId> inputs,
                                   const std::vector<ElementType>& types, std::vector<Attribute> attributes = {}) {
    const std::string index = std::to_string(graph_.nodes.size());
    Node node{.name = "n" + index, .op_type = op, .inputs = std::move(inputs), .outputs = {}};
    for (const ElementType type : types) {
      const std::string name = "y" + index + "_" + std::to_string(node.outputs.size());
      node.outputs.push_back(add_value(graph_, name, {.kind = ValueKind::kTensor, .element = type, .shape = {}}));
    }
    node.attributes = std::move(attributes);
    std::vector<ValueId> made = node.outputs;
    add_node(graph_, std::move(node));
    return made;
  }
  [[nodiscard]] const Extents extents(ValueId id) const { return graph_.value(id).type.extents(); }
  Graph take(std::vector<ValueId> outputs) {
    graph_.outputs = std::move(outputs);
    return std::move(graph_);
  }
  Dice& dice() { return dice_; }

 private:
  Graph graph_;
  Dice dice_;
};

using Ints = std::vector<std::int64_t>;

inline ValueId add_conv(NetworkBuilder& net, ValueId x, std::int64_t channels, std::int64_t kernel,
                        std::int64_t group = 1, bool bias = true) {
  const Extents in = net.extents(x);
  std::vector<ValueId> inputs = {x, net.weight({channels, in[1] / group, kernel, kernel})};
  if (bias) inputs.push_back(net.weight({channels}));
  const std::int64_t pad = kernel / 2;
  return net.add("Conv", inputs, {in[0], channels, in[2], in[3]},
                 {{"pads", Ints{pad, pad, pad, pad}}, {"kernel_shape", Ints{kernel, kernel}}, {"group", group}});
}

/// The names that small_network knows.
inline const std::vector<std::string>& small_networks() {
  static const std::vector<std::string> names = {
      "conv",     "conv relu",  "conv relu6", "grouped conv",  "dilated conv", "strided conv", "relu6",
      "max pool", "average",    "matmul",     "gemm",          "add",          "sub",          "mul",
      "softmax",  "layer norm", "sigmoid",    "tanh",          "gelu",         "leaky",        "hard swish",
      "prelu",    "concat",     "slice",      "gather",        "transpose",    "pad",          "mean",
      "max",      "batch norm", "resize",     "deconv",        "where",        "cumsum",       "to depth",
      "exp",      "arg max",    "residual",   "instance norm", "embedding"};
  return names;
}

/// `shape` 0..3: odd and even extents, one and several images.
inline Graph small_network(const std::string& name, std::size_t shape, std::uint64_t seed) {
  static const std::vector<Extents> shapes = {{1, 8, 6, 6}, {2, 12, 7, 5}, {1, 16, 9, 9}, {3, 4, 5, 5}};
  const Extents in = shapes[shape % shapes.size()];
  NetworkBuilder net(seed);
  const std::int64_t c = in[1], h = in[2], w = in[3];
  const auto one = [&](const std::string& op, std::vector<ValueId> more = {}, std::vector<Attribute> attributes = {}) {
    std::vector<ValueId> inputs = {net.input("x", in)};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return net.take({net.add(op, inputs, in, std::move(attributes))});
  };
  if (name == "conv") return net.take({add_conv(net, net.input("x", in), c, 3)});
  if (name == "conv relu") return net.take({net.add("Relu", {add_conv(net, net.input("x", in), c, 3)}, in)});
  if (name == "conv relu6") {
    const ValueId conv = add_conv(net, net.input("x", in), c, 1);
    return net.take({net.add("Clip", {conv, net.scalar(0), net.scalar(60)}, in)});
  }
  if (name == "grouped conv") return net.take({add_conv(net, net.input("x", in), c, 3, c / 2)});
  if (name == "dilated conv") {
    const ValueId x = net.input("x", in);
    return net.take({net.add("Conv", {x, net.weight({c, c, 3, 3})}, in,
                             {{"pads", Ints{2, 2, 2, 2}}, {"dilations", Ints{2, 2}}, {"kernel_shape", Ints{3, 3}}})});
  }
  if (name == "strided conv") {
    const ValueId x = net.input("x", in);
    return net.take({net.add("Conv", {x, net.weight({c, c, 3, 3})}, {in[0], c, (h + 1) / 2, (w + 1) / 2},
                             {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}, {"kernel_shape", Ints{3, 3}}})});
  }
  if (name == "relu6") return one("Clip", {net.scalar(0), net.scalar(6)});
  if (name == "max pool") return one("MaxPool", {}, {{"pads", Ints{1, 1, 1, 1}}, {"kernel_shape", Ints{3, 3}}});
  if (name == "average")
    return one("AveragePool", {},
               {{"pads", Ints{1, 1, 1, 1}}, {"kernel_shape", Ints{3, 3}}, {"count_include_pad", std::int64_t{0}}});
  if (name == "matmul") {
    const ValueId x = net.input("x", {in[0], h, c});
    return net.take({net.add("MatMul", {x, net.weight({c, c})}, {in[0], h, c})});
  }
  if (name == "gemm") {
    const ValueId x = net.input("x", {h, c});
    return net.take({net.add("Gemm", {x, net.weight({c, c}), net.weight({c})}, {h, c},
                             {{"alpha", 0.5F}, {"beta", 2.0F}, {"transB", std::int64_t{1}}})});
  }
  if (name == "add" || name == "sub" || name == "mul") {
    const std::string op = name == "add" ? "Add" : name == "sub" ? "Sub" : "Mul";
    const ValueId x = net.input("x", in);
    return net.take({net.add(op, {x, net.input("y", in)}, in)});
  }
  if (name == "softmax") return one("Softmax", {}, {{"axis", std::int64_t{1}}});
  if (name == "layer norm")
    return one("LayerNormalization", {net.weight({w}, 0.2F, 1), net.weight({w})},
               {{"axis", std::int64_t{-1}}, {"epsilon", 1e-5F}});
  if (name == "sigmoid") return one("Sigmoid");
  if (name == "tanh") return one("Tanh");
  if (name == "gelu") return one("Gelu");
  if (name == "leaky") return one("LeakyRelu", {}, {{"alpha", 0.1F}});
  if (name == "hard swish") return one("HardSwish");
  if (name == "prelu") return one("PRelu", {net.weight({c, 1, 1})});
  if (name == "concat") {
    const ValueId x = net.input("x", in);
    return net.take({net.add("Concat", {x, net.input("y", in)}, {in[0], 2 * c, h, w}, {{"axis", std::int64_t{1}}})});
  }
  if (name == "slice") {
    const ValueId x = net.input("x", in);
    return net.take(
        {net.add("Slice", {x, net.integers({1}), net.integers({h - 1}), net.integers({2})}, {in[0], c, h - 2, w})});
  }
  if (name == "gather") {
    const ValueId x = net.input("x", in);
    return net.take(
        {net.add("Gather", {x, net.integers({2, 0, 1, 0})}, {in[0], 4, h, w}, {{"axis", std::int64_t{1}}})});
  }
  if (name == "transpose") {
    const ValueId x = net.input("x", {in[0], h, h, c});
    return net.take({net.add("Transpose", {x}, {in[0], h, h, c}, {{"perm", Ints{0, 2, 1, 3}}})});
  }
  if (name == "pad") {
    const ValueId x = net.input("x", in);
    return net.take(
        {net.add("Pad", {x, net.integers({0, 0, 1, 1, 0, 0, 1, 1}), net.scalar(0.5F)}, {in[0], c, h + 2, w + 2})});
  }
  if (name == "mean" || name == "max") {
    const ValueId x = net.input("x", in);
    return net.take(
        {net.add(name == "mean" ? "ReduceMean" : "ReduceMax", {x, net.integers({2, 3})}, {in[0], c, 1, 1})});
  }
  if (name == "batch norm")
    return one("BatchNormalization",
               {net.weight({c}, 0.3F, 1), net.weight({c}), net.weight({c}), net.weight({c}, 0.2F, 0.3F)},
               {{"epsilon", 1e-3F}});
  if (name == "resize") {
    const ValueId x = net.input("x", in);
    const ValueId scales = net.floats({1, 1, 2, 2});
    return net.take(
        {net.add("Resize", {x, ValueId{}, scales}, {in[0], c, 2 * h, 2 * w},
                 {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("half_pixel")}})});
  }
  if (name == "deconv") {
    const ValueId x = net.input("x", in);
    return net.take({net.add("ConvTranspose", {x, net.weight({c, c, 2, 2}), net.weight({c})}, {in[0], c, 2 * h, 2 * w},
                             {{"strides", Ints{2, 2}}, {"kernel_shape", Ints{2, 2}}})});
  }
  if (name == "where") {
    const ValueId x = net.input("x", in);
    const ValueId mask = net.input("mask", in, ElementType::kBool);
    return net.take({net.add("Where", {mask, x, net.input("y", in)}, in)});
  }
  if (name == "cumsum") return one("CumSum", {net.integers({2})});
  if (name == "to depth") {
    const ValueId x = net.input("x", {in[0], 2 * c, h, w});
    return net.take({net.add("DepthToSpace", {x}, {in[0], c / 2, 2 * h, 2 * w},
                             {{"blocksize", std::int64_t{2}}, {"mode", std::string("DCR")}})});
  }
  if (name == "exp") return one("Exp");
  if (name == "arg max") {
    const ValueId x = net.input("x", in);
    return net.take({net.add("ArgMax", {x}, {in[0], 1, h, w}, {{"axis", std::int64_t{1}}}, ElementType::kInt64)});
  }
  if (name == "residual") {
    const ValueId x = net.input("x", in);
    const ValueId conv = add_conv(net, x, c, 3);
    return net.take({net.add("Relu", {net.add("Add", {conv, x}, in)}, in)});
  }
  if (name == "instance norm")
    return one("InstanceNormalization", {net.weight({c}, 0.3F, 1), net.weight({c})}, {{"epsilon", 1e-3F}});
  if (name == "embedding") {
    const ValueId ids = net.input("x", {in[0], h}, ElementType::kInt64);
    return net.take({net.add("Gather", {net.weight({c, w}), ids}, {in[0], h, w})});
  }
  return {};
}

}  // namespace collage::testing_support
