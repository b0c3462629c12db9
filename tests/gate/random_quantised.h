// Seeded random networks of bytes: convolutions, products, sums and functions between DequantizeLinear and
// QuantizeLinear, as tools that quantise models write them. The graph is called "quantised_<seed>".
#pragma once

#include <utility>

#include "tests/support/small_networks.h"

namespace collage::testing_support {

class RandomQuantised {
 public:
  explicit RandomQuantised(std::uint64_t seed) : seed_(seed), net_(seed) {}

  Graph make() {
    is_signed_ = net_.dice().one_in(2);
    const std::vector<std::int64_t> sides = {5, 7, 8, 9};
    const std::int64_t channels = 8 * (1 + static_cast<std::int64_t>(net_.dice().below(3)));
    bytes_ = quantise(net_.input("x", {1, channels, net_.dice().pick(sides), net_.dice().pick(sides)}));
    const std::size_t count = 2 + net_.dice().below(3);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t begin = nodes_;
      step();
      units_.emplace_back(begin, nodes_);
    }
    Graph graph = net_.take({bytes_});
    graph.name = "quantised_" + std::to_string(seed_);
    return graph;
  }

  /// Nodes [begin, end) from a dequantiser to the quantiser behind it.
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, std::uint32_t>>& units() const { return units_; }

 private:
  ValueId add(const std::string& op, std::vector<ValueId> inputs, const Extents& extents,
              std::vector<Attribute> attributes = {}, ElementType type = ElementType::kFloat32) {
    ++nodes_;
    return net_.add(op, std::move(inputs), extents, std::move(attributes), type);
  }
  [[nodiscard]] ElementType type() const { return is_signed_ ? ElementType::kInt8 : ElementType::kUint8; }

  ValueId zero() {
    const auto zero = static_cast<int>(net_.dice().below(20)) + (is_signed_ ? -10 : 110);
    if (is_signed_) return net_.constant(make_tensor<std::int8_t>(type(), {}, {static_cast<std::int8_t>(zero)}));
    return net_.constant(make_tensor<std::uint8_t>(type(), {}, {static_cast<std::uint8_t>(zero)}));
  }
  /// Of what was quantised last.
  ValueId dequantise() { return add("DequantizeLinear", {bytes_, scale_, zero_}, net_.extents(bytes_)); }
  ValueId quantise(ValueId real) {
    scale_ = net_.scalar(0.02F + static_cast<float>(net_.dice().below(20)) * 0.001F);
    zero_ = zero();
    return add("QuantizeLinear", {real, scale_, zero_}, net_.extents(real), {}, type());
  }
  ValueId weights(const Extents& extents) {
    // Seven bits: older processors saturate sums of two products of eight.
    std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(extents)));
    for (std::int8_t& value : values) value = static_cast<std::int8_t>(static_cast<int>(net_.dice().below(127)) - 63);
    const ValueId bytes = net_.constant(make_tensor<std::int8_t>(ElementType::kInt8, extents, values));
    const ValueId scale = net_.dice().one_in(2) ? net_.scalar(0.004F) : net_.weight({extents[0]}, 0.001F, 0.004F);
    return add("DequantizeLinear", {bytes, scale}, extents, {{"axis", std::int64_t{0}}});
  }

  ValueId convolution(ValueId x) {
    const Extents in = net_.extents(x);
    const std::int64_t kernel = net_.dice().one_in(2) ? 1 : 3;
    const bool is_depthwise = kernel == 3 && net_.dice().one_in(3);
    const std::int64_t pad = kernel / 2;
    std::vector<ValueId> inputs = {x, weights({in[1], is_depthwise ? 1 : in[1], kernel, kernel})};
    if (net_.dice().one_in(2)) inputs.push_back(net_.weight({in[1]}));
    return add("Conv", inputs, in,
               {{"kernel_shape", Ints{kernel, kernel}},
                {"pads", Ints{pad, pad, pad, pad}},
                {"group", is_depthwise ? in[1] : std::int64_t{1}}});
  }

  void step() {
    const ValueId x = dequantise();
    const Extents in = net_.extents(x);
    ValueId real = x;
    switch (net_.dice().below(6)) {
      case 0:
        real = add("Add", {x, x}, in);
        break;
      case 1:
        real = add("Mul", {x, x}, in);
        break;
      case 2:
        real = add(net_.dice().one_in(2) ? "Sigmoid" : "HardSwish", {x}, in);
        break;
      default:
        real = convolution(x);
        if (net_.dice().one_in(2)) real = add("Relu", {real}, in);
    }
    bytes_ = quantise(real);
  }

  std::uint64_t seed_;
  NetworkBuilder net_;
  bool is_signed_ = false;
  std::uint32_t nodes_ = 0;
  ValueId bytes_, scale_, zero_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> units_;
};

}  // namespace collage::testing_support
