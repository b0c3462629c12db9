// Seeded random networks that mean something: chains with residuals of the operators that image and token models are
// made of, with static shapes. The graph is called "random_<seed>".
#pragma once

#include "tests/support/small_networks.h"

namespace collage::testing_support {

class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed) : seed_(seed), net_(seed) {}

  Graph make() {
    const bool is_image = !net_.dice().one_in(3);
    const std::vector<std::int64_t> sides = {4, 5, 7, 8, 12};
    const std::int64_t channels = 4 * (1 + static_cast<std::int64_t>(net_.dice().below(4)));
    Extents extents = {1 + static_cast<std::int64_t>(net_.dice().below(2)), net_.dice().pick(sides), channels};
    if (is_image) extents = {extents[0], channels, net_.dice().pick(sides), net_.dice().pick(sides)};
    values_ = {net_.input("x", extents)};
    const std::size_t nodes = 2 + net_.dice().below(6);
    for (std::size_t n = 0; n < nodes; ++n) values_.push_back(is_image ? image_step() : token_step());
    Graph graph = net_.take({values_.back()});
    graph.name = "random_" + std::to_string(seed_);
    return graph;
  }

 private:
  [[nodiscard]] Extents extents() const { return net_.extents(values_.back()); }
  ValueId same(const std::string& op, std::vector<ValueId> more = {}, std::vector<Attribute> attributes = {}) {
    std::vector<ValueId> inputs = {values_.back()};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return net_.add(op, inputs, extents(), std::move(attributes));
  }

  /// An earlier value of the same shape, itself when there is no other.
  ValueId partner() {
    std::vector<ValueId> fitting;
    for (const ValueId id : values_)
      if (net_.extents(id) == extents()) fitting.push_back(id);
    return net_.dice().pick(fitting);
  }

  ValueId either() {
    static const std::vector<std::string> functions = {"Relu", "Sigmoid", "Tanh",     "HardSwish", "LeakyRelu", "Elu",
                                                       "Abs",  "Neg",     "Softplus", "Erf",       "Gelu",      "Mish"};
    switch (net_.dice().below(8)) {
      case 0:
        return same("Add", {partner()});
      case 1:
        return same("Mul", {partner()});
      case 2:
        return same("Sub", {partner()});
      case 3:
        return same("Clip", {net_.scalar(0), net_.scalar(6)});
      case 4:
        return same("Div", {net_.scalar(3)});
      case 5:
        return same("Softmax", {}, {{"axis", std::int64_t{-1}}});
      default:
        return same(net_.dice().pick(functions));
    }
  }

  ValueId image_step() {
    const Extents in = extents();
    const std::int64_t c = in[1];
    const Attribute window = {"kernel_shape", Ints{3, 3}};
    const Attribute pads = {"pads", Ints{1, 1, 1, 1}};
    switch (net_.dice().below(12)) {
      case 0:
        return add_conv(net_, values_.back(), c, 3);
      case 1:
        return add_conv(net_, values_.back(), 2 * c, 1);
      case 2:
        return add_conv(net_, values_.back(), c, 3, c);
      case 3:
        return same("MaxPool", {}, {window, pads});
      case 4:
        return same("AveragePool", {}, {window, pads});
      case 5:
        return same("BatchNormalization",
                    {net_.weight({c}, 0.3F, 1), net_.weight({c}), net_.weight({c}), net_.weight({c}, 0.2F, 0.5F)});
      case 6:
        return net_.add("Concat", {values_.back(), values_.back()}, {in[0], 2 * c, in[2], in[3]},
                        {{"axis", std::int64_t{1}}});
      case 7:
        return same("PRelu", {net_.weight({c, 1, 1})});
      default:
        return either();
    }
  }

  ValueId token_step() {
    const Extents in = extents();
    const std::int64_t c = in[2];
    switch (net_.dice().below(8)) {
      case 0:
        return same("MatMul", {net_.weight({c, c})});
      case 1:
        return net_.add("MatMul", {values_.back(), net_.weight({c, 2 * c})}, {in[0], in[1], 2 * c});
      case 2:
        return same("LayerNormalization", {net_.weight({c}, 0.2F, 1), net_.weight({c})}, {{"axis", std::int64_t{-1}}});
      case 3:
        return same("Add", {net_.weight({c})});
      default:
        return either();
    }
  }

  std::uint64_t seed_;
  NetworkBuilder net_;
  std::vector<ValueId> values_;
};

}  // namespace collage::testing_support
