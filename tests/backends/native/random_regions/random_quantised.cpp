#include "tests/backends/native/random_regions/random_quantised.h"

#include "tests/backends/native/random_regions/region_writer.h"

namespace collage::test {
namespace {

/// A convolution or product, not yet written.
struct Shapes {
  Extents source, weights, result;
  std::int64_t outputs = 1;
  std::string attributes = {};
};

class Writer : public RegionWriter {
 public:
  using RegionWriter::RegionWriter;
  std::string region();

 private:
  Shapes convolution();
  Shapes product();
  std::string rounded(const Shapes& shapes, const std::string& op);
  std::string integer(const Shapes& shapes, const std::string& op);
  std::string wrapped(const Shapes& shapes, bool is_convolution);
  /// Factors of types that go together, and zero points for them.
  void draw_factors(const Shapes& shapes, bool may_be_signed = true);
  std::string zero_of(const std::string& type);
  std::string weight_zero(const Shapes& shapes);
  std::string bias(const Shapes& shapes) { return port("w", "i32", {shapes.outputs}).name; }

  Made source_, weights_;
};

Shapes Writer::convolution() {
  static const std::vector<std::int64_t> kChannels = {1, 2, 3, 4, 5, 8, 13, 16, 20, 24, 33, 40};
  const bool is_depthwise = dice_.one_in(4);
  const std::size_t rank = dice_.one_in(4) ? (dice_.one_in(2) ? 1 : 3) : 2;
  const std::int64_t channels = dice_.pick(kChannels);
  Shapes made{.source = {from(1, 2), channels}, .weights = {}, .result = {}};
  made.outputs = is_depthwise ? channels : dice_.pick(kChannels);
  made.weights = {made.outputs, is_depthwise ? 1 : channels};
  made.result = {made.source[0], made.outputs};
  Extents kernel, strides, dilations, pads(2 * rank, 0);
  const bool is_pointwise = dice_.one_in(4);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    kernel.push_back(is_pointwise ? 1 : from(1, 4));
    strides.push_back(dice_.one_in(2) ? 1 : from(1, 2));
    dilations.push_back(dice_.one_in(3) ? 2 : 1);
    const std::int64_t reach = dilations.back() * (kernel.back() - 1);
    pads[axis] = from(0, std::min<std::int64_t>(reach, 2));
    pads[axis + rank] = from(0, std::min<std::int64_t>(reach, 2));
    made.source.push_back(reach + 1 + from(0, rank == 3 ? 3 : 10));
    made.weights.push_back(kernel.back());
    made.result.push_back((made.source.back() + pads[axis] + pads[axis + rank] - reach - 1) / strides.back() + 1);
  }
  made.attributes = "dilations=" + list(dilations) + ", group=" + std::to_string(is_depthwise ? channels : 1) +
                    ", kernel_shape=" + list(kernel) + ", pads=" + list(pads) + ", strides=" + list(strides);
  return made;
}

Shapes Writer::product() {
  const std::int64_t rows = from(1, 20), depth = from(1, 70), columns = from(1, 70);
  Shapes made{.source = some_extents(static_cast<std::size_t>(from(0, 2)), 3),
              .weights = {depth, columns},
              .result = {},
              .outputs = columns};
  made.result = made.source;
  made.source.insert(made.source.end(), {rows, depth});
  made.result.insert(made.result.end(), {rows, columns});
  return made;
}

void Writer::draw_factors(const Shapes& shapes, bool may_be_signed) {
  const bool is_signed = may_be_signed && dice_.one_in(3);
  source_ = input(shapes.source, is_signed ? "i8" : "u8");
  weights_ = port("w", is_signed || dice_.one_in(2) ? "i8" : "u8", shapes.weights);
}

std::string Writer::zero_of(const std::string& type) {
  return constant(type, std::to_string(dice_.one_in(3) ? 0 : from(type == "i8" ? -5 : 0, 9)));
}

std::string Writer::weight_zero(const Shapes& shapes) {
  return dice_.one_in(3) ? port("w", weights_.element, {shapes.outputs}).name : zero_of(weights_.element);
}

std::string Writer::rounded(const Shapes& shapes, const std::string& op) {
  draw_factors(shapes);
  // The reference wants both numbers of the weights in one shape, and no zero points by output in convolutions.
  const bool by_output = dice_.one_in(2);
  const bool is_convolution = op == "QLinearConv";
  std::vector<std::string> inputs = {source_.name, scalar("0.05"), zero_of(source_.element), weights_.name};
  if (by_output && !is_convolution) {
    inputs.push_back(port("wp", "f32", {shapes.outputs}).name);
    inputs.push_back(port("w", weights_.element, {shapes.outputs}).name);
  } else {
    inputs.push_back(by_output ? port("wp", "f32", {shapes.outputs}).name : scalar("0.7"));
    inputs.push_back(zero_of(weights_.element));
  }
  inputs.push_back(scalar("0.3"));
  inputs.push_back(zero_of(source_.element));
  if (is_convolution && dice_.one_in(2)) inputs.push_back(bias(shapes));
  return text({node(op, inputs, shapes.result, shapes.attributes, source_.element)});
}

std::string Writer::integer(const Shapes& shapes, const std::string& op) {
  draw_factors(shapes, op != "ConvInteger");
  std::vector<std::string> inputs = {source_.name, weights_.name};
  if (dice_.one_in(2)) {
    // A zero point that is known only when it runs.
    inputs.push_back(dice_.one_in(2) ? input({}, source_.element).name : zero_of(source_.element));
    if (dice_.one_in(2)) inputs.push_back(op == "ConvInteger" ? zero_of(weights_.element) : weight_zero(shapes));
  }
  const Made sum = node(op, inputs, shapes.result, shapes.attributes, "i32");
  if (dice_.one_in(2)) return text({sum});
  const Made real = node("Cast", {sum.name}, shapes.result, "to=1");
  return text({epilogue(node("Mul", {real.name, scalar("0.01")}, shapes.result))});
}

std::string Writer::wrapped(const Shapes& shapes, bool is_convolution) {
  draw_factors(shapes);
  const Made source = node("DequantizeLinear", {source_.name, scalar("0.05"), zero_of(source_.element)}, shapes.source);
  const bool by_output = dice_.one_in(2);
  const std::string axis = "axis=" + std::to_string(is_convolution ? 0 : 1);
  std::vector<std::string> numbers = {weights_.name, scalar("0.7"), zero_of(weights_.element)};
  if (by_output)
    numbers = {weights_.name, port("wp", "f32", {shapes.outputs}).name,
               port("w", weights_.element, {shapes.outputs}).name};
  const Made weights = node("DequantizeLinear", numbers, shapes.weights, axis);
  std::vector<std::string> inputs = {source.name, weights.name};
  const bool is_gemm = !is_convolution && shapes.source.size() == 2;
  if ((is_convolution || is_gemm) && dice_.one_in(2))
    inputs.push_back(dice_.one_in(2)
                         ? weight({shapes.outputs}).name
                         : node("DequantizeLinear", {bias(shapes), scalar("0.035")}, {shapes.outputs}).name);
  Made result = node(is_convolution ? "Conv"
                     : is_gemm      ? "Gemm"
                                    : "MatMul",
                     inputs, shapes.result, is_gemm ? "alpha=1.5, beta=0.5" : shapes.attributes);
  if (dice_.one_in(2)) return text({epilogue(result)});
  if (dice_.one_in(2)) result = node("Relu", {result.name}, shapes.result);
  const std::string type = dice_.one_in(2) ? "u8" : "i8";
  return text({node("QuantizeLinear", {result.name, scalar("0.3"), zero_of(type)}, shapes.result, "", type)});
}

std::string Writer::region() {
  const bool is_convolution = dice_.one_in(2);
  const Shapes shapes = is_convolution ? convolution() : product();
  const std::size_t form = dice_.below(3);
  if (form == 0) return rounded(shapes, is_convolution ? "QLinearConv" : "QLinearMatMul");
  if (form == 1) return integer(shapes, is_convolution ? "ConvInteger" : "MatMulInteger");
  return wrapped(shapes, is_convolution);
}

}  // namespace

std::string random_quantised(std::uint64_t seed) { return Writer(seed).region(); }

}  // namespace collage::test
