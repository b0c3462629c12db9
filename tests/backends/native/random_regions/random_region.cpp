#include "tests/backends/native/random_regions/random_region.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/backends/native/random_regions/random_quantised.h"
#include "tests/backends/native/random_regions/region_writer.h"

namespace collage::test {
namespace {

class Writer : public RegionWriter {
 public:
  Writer(RegionKind kind, std::uint64_t seed) : RegionWriter(seed * 16 + static_cast<std::uint64_t>(kind)) {}

  std::string elementwise();
  std::string convolution(bool is_depthwise);
  std::string transposed();
  std::string separable();
  std::string product();
  std::string pooling();
  std::string rows();
  std::string moves();
};

std::string window_attributes(const Extents& kernel, const Extents& strides, const Extents& dilations,
                              const Extents& pads) {
  return "dilations=" + list(dilations) + ", kernel_shape=" + list(kernel) + ", pads=" + list(pads) +
         ", strides=" + list(strides);
}

std::string Writer::elementwise() {
  const Extents extents = some_extents(static_cast<std::size_t>(from(0, 5)), dice_.one_in(3) ? 33 : 6);
  std::vector<Made> known = {input(extents)};
  std::vector<Made> whole;
  const std::int64_t nodes = from(1, 7);
  for (std::int64_t i = 0; i < nodes; ++i) {
    const Made& x = dice_.pick(known);
    const std::size_t form = dice_.below(10);
    if (form < 3)
      known.push_back(unary(x));
    else if (form < 6)
      known.push_back(binary(x, input(narrowed(extents))));
    else if (form == 6)
      known.push_back(binary(x, weight(narrowed(extents))));
    else if (form == 7)
      known.push_back(binary(x, dice_.pick(known)));
    else if (form == 8)
      known.push_back(chosen(narrowed(extents), x, dice_.pick(known)));
    else
      known.push_back(binary(x, integers(narrowed(extents))));
    if (known.back().extents == extents && dice_.one_in(4)) whole.push_back(known.back());
  }
  // The last value comes out, joined with an input of the whole shape, and so does a mask at times.
  whole.push_back(node("Add", {known.back().name, known.front().name}, extents));
  if (dice_.one_in(4)) whole.push_back(node("Not", {mask(extents).name}, extents, "", "bool"));
  return text(whole);
}

std::string Writer::convolution(bool is_depthwise) {
  static const std::vector<std::int64_t> kChannels = {1, 2, 3, 5, 8, 13, 16, 17, 24, 32, 32, 33, 48, 64};
  static const std::vector<std::size_t> kRanks = {1, 2, 2, 2, 2, 3};
  const std::size_t rank = dice_.pick(kRanks);
  const std::int64_t group_channels = is_depthwise ? 1 : dice_.pick(kChannels);
  std::int64_t groups = 1;
  if (is_depthwise)
    groups = dice_.pick(kChannels);
  else if (dice_.one_in(5))
    groups = from(2, 6);
  std::int64_t per_group = groups > 1 ? (dice_.one_in(2) ? from(1, 9) : 8 * from(1, 6)) : dice_.pick(kChannels);
  if (is_depthwise) per_group = dice_.one_in(3) ? from(2, 4) : 1;
  const std::int64_t outputs = groups * per_group;
  Extents in = {from(1, 2), groups * group_channels};
  Extents out = {in[0], outputs};
  Extents kernel, strides, dilations, pads(2 * rank, 0);
  const bool is_plain_3x3 = rank == 2 && dice_.one_in(2);
  const bool is_pointwise = !is_plain_3x3 && !is_depthwise && dice_.one_in(4);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    kernel.push_back(is_plain_3x3 ? 3 : is_pointwise ? 1 : from(1, 4));
    strides.push_back(is_plain_3x3 || dice_.one_in(2) ? 1 : from(1, 3));
    dilations.push_back(is_plain_3x3 || dice_.one_in(2) ? 1 : from(1, 2));
    const std::int64_t reach = dilations.back() * (kernel.back() - 1);
    pads[axis] = dice_.one_in(3) ? 0 : from(0, std::min<std::int64_t>(reach, 2));
    pads[axis + rank] = dice_.one_in(3) ? pads[axis] : from(0, std::min<std::int64_t>(reach, 2));
    in.push_back(reach + 1 + from(0, rank == 3 ? 4 : rank == 2 ? 12 : 40));
    out.push_back((in.back() + pads[axis] + pads[axis + rank] - reach - 1) / strides.back() + 1);
  }
  const Made x = input(in);
  Extents weights = {outputs, group_channels};
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  std::vector<std::string> inputs = {x.name, (dice_.one_in(8) ? input(weights) : weight(weights)).name};
  if (dice_.one_in(2)) inputs.push_back(weight({outputs}).name);
  const Made y = node("Conv", inputs, out,
                      window_attributes(kernel, strides, dilations, pads) + ", group=" + std::to_string(groups));
  return text({epilogue(y)});
}

std::string Writer::transposed() {
  static const std::vector<std::int64_t> kChannels = {1, 2, 3, 5, 8, 16, 17, 24, 32, 33, 48};
  static const std::vector<std::size_t> kRanks = {1, 2, 2, 2, 3};
  const std::size_t rank = dice_.pick(kRanks);
  const std::int64_t groups = dice_.one_in(3) ? from(2, 4) : 1;
  const std::int64_t group_outputs = dice_.one_in(4) ? 1 : dice_.pick(kChannels);
  Extents in = {from(1, 2), groups * (dice_.one_in(3) ? 1 : dice_.pick(kChannels))};
  Extents out = {in[0], groups * group_outputs};
  Extents kernel, strides, dilations, more, pads(2 * rank, 0);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    strides.push_back(from(1, 3));
    kernel.push_back(dice_.one_in(3) ? strides.back() : from(1, 5));
    dilations.push_back(dice_.one_in(4) ? from(2, 3) : 1);
    more.push_back(dice_.one_in(3) ? from(0, strides.back() - 1) : 0);
    in.push_back(from(1, rank == 3 ? 4 : rank == 2 ? 9 : 40));
    const std::int64_t full = (in.back() - 1) * strides.back() + (kernel.back() - 1) * dilations.back() + 1;
    pads[axis] = from(0, std::min<std::int64_t>((full - 1) / 2, 2));
    pads[axis + rank] = from(0, std::min<std::int64_t>((full - 1) / 2, 2));
    out.push_back(full - pads[axis] - pads[axis + rank] + more.back());
  }
  const Made x = input(in);
  Extents weights = {in[1], group_outputs};
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  std::vector<std::string> inputs = {x.name, weight(weights).name};
  if (dice_.one_in(2)) inputs.push_back(weight({out[1]}).name);
  const Made y = node("ConvTranspose", inputs, out,
                      window_attributes(kernel, strides, dilations, pads) + ", output_padding=" + list(more) +
                          ", group=" + std::to_string(groups));
  return text({epilogue(y)});
}

std::string Writer::separable() {
  static const std::vector<std::int64_t> kChannels = {2, 5, 8, 16, 17, 24, 32, 40};
  const std::size_t form = dice_.below(3);
  const std::int64_t channels = dice_.pick(kChannels);
  Extents shape = {from(1, 2), form == 1 ? channels : dice_.pick(kChannels), from(5, 15), from(5, 15)};
  Made x = input(shape);
  const auto pointwise = [&](const Made& from_value, std::int64_t outputs) {
    Extents to = from_value.extents;
    to[1] = outputs;
    return epilogue(node("Conv",
                         {from_value.name, weight({outputs, from_value.extents[1], 1, 1}).name, weight({outputs}).name},
                         to, "kernel_shape=[1,1]"));
  };
  Made y = form == 1 ? x : pointwise(x, channels);
  Extents kernel, strides, pads(4, 0), out = y.extents;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    kernel.push_back(from(1, 5));
    strides.push_back(from(1, 2));
    pads[axis] = from(0, kernel.back() - 1);
    pads[axis + 2] = from(0, kernel.back() - 1);
    out[axis + 2] = (out[axis + 2] + pads[axis] + pads[axis + 2] - kernel.back()) / strides.back() + 1;
  }
  y = epilogue(node("Conv", {y.name, weight({channels, 1, kernel[0], kernel[1]}).name}, out,
                    window_attributes(kernel, strides, {1, 1}, pads) + ", group=" + std::to_string(channels)));
  if (form != 0) y = pointwise(y, dice_.pick(kChannels));
  return text({y});
}

std::string Writer::product() {
  const std::int64_t m = from(1, 20);
  const std::int64_t k = from(1, 70);
  const std::int64_t n = from(1, 70);
  if (dice_.one_in(2)) {
    Extents left = some_extents(static_cast<std::size_t>(from(0, 2)), 3);
    Extents out = left;
    left.insert(left.end(), {m, k});
    out.insert(out.end(), {m, n});
    return text({epilogue(node("MatMul", {input(left).name, weight({k, n}).name}, out))});
  }
  const bool flips_a = dice_.one_in(3);
  const bool flips_b = dice_.one_in(2);
  std::vector<std::string> inputs = {input(flips_a ? Extents{k, m} : Extents{m, k}).name,
                                     weight(flips_b ? Extents{n, k} : Extents{k, n}).name};
  std::string attributes = "transA=" + std::to_string(flips_a ? 1 : 0) + ", transB=" + std::to_string(flips_b ? 1 : 0);
  if (dice_.one_in(2)) {
    const Extents bias = narrowed({m, n});
    inputs.push_back((dice_.one_in(3) ? input(bias) : weight(bias)).name);
    if (dice_.one_in(2)) attributes += ", beta=0.5";
  }
  if (dice_.one_in(3)) attributes += ", alpha=1.5";
  return text({epilogue(node("Gemm", inputs, {m, n}, attributes))});
}

std::string Writer::pooling() {
  static const std::vector<std::int64_t> kChannels = {1, 3, 8, 13, 16, 17, 32, 48};
  const std::size_t rank = static_cast<std::size_t>(from(1, 3));
  const bool is_max = dice_.one_in(2);
  Extents in = {from(1, 2), dice_.pick(kChannels)};
  Extents out = in;
  Extents kernel, strides, dilations, pads(2 * rank, 0);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    kernel.push_back(from(1, rank == 2 ? 5 : 3));
    strides.push_back(from(1, 2));
    dilations.push_back(dice_.one_in(3) ? 2 : 1);
    pads[axis] = from(0, std::min<std::int64_t>(kernel.back() - 1, 2));
    pads[axis + rank] = from(0, std::min<std::int64_t>(kernel.back() - 1, 2));
    const std::int64_t reach = dilations.back() * (kernel.back() - 1);
    in.push_back(reach + 1 + from(0, 7));
    out.push_back((in.back() + pads[axis] + pads[axis + rank] - reach - 1) / strides.back() + 1);
  }
  std::string attributes = window_attributes(kernel, strides, dilations, pads);
  if (!is_max) attributes += ", count_include_pad=" + std::to_string(dice_.below(2));
  return text({epilogue(node(is_max ? "MaxPool" : "AveragePool", {input(in).name}, out, attributes))});
}

std::string Writer::rows() {
  static const std::vector<std::string> kReductions = {"ReduceSum", "ReduceMean", "ReduceMax",       "ReduceMin",
                                                       "ReduceL1",  "ReduceL2",   "ReduceSumSquare", "ReduceLogSumExp"};
  const bool is_long = dice_.one_in(2);
  const Extents in = some_extents(static_cast<std::size_t>(from(1, is_long ? 3 : 4)), is_long ? 30 : 9);
  const auto rank = static_cast<std::int64_t>(in.size());
  const Made x = prologue(input(in));
  const std::size_t form = dice_.below(4);
  if (form == 0)
    return text({epilogue(node(dice_.one_in(3) ? "LogSoftmax" : "Softmax", {x.name}, in,
                               "axis=" + std::to_string(from(-rank, rank - 1))))});
  if (form == 1) {
    const std::int64_t axis = from(0, rank - 1);
    const Extents normal(in.begin() + axis, in.end());
    return text({epilogue(node("LayerNormalization", {x.name, weight(normal).name, weight(normal).name}, in,
                               "axis=" + std::to_string(axis) + ", epsilon=0.01"))});
  }
  // A run of neighbouring axes.
  const std::int64_t first = from(0, rank - 1);
  const std::int64_t last = from(first, rank - 1);
  const bool keeps = dice_.one_in(2);
  Extents out, axes;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const bool is_reduced = axis >= first && axis <= last;
    if (is_reduced) axes.push_back(axis);
    if (!is_reduced || keeps) out.push_back(is_reduced ? 1 : in[static_cast<std::size_t>(axis)]);
  }
  const std::string name = "c" + std::to_string(count_++);
  constants_ += "  constant %" + name + " = i64[" + std::to_string(axes.size()) + "]{";
  for (std::size_t i = 0; i < axes.size(); ++i) constants_ += (i > 0 ? "," : "") + std::to_string(axes[i]);
  constants_ += "}\n";
  return text({epilogue(node(dice_.pick(kReductions), {x.name, name}, out, keeps ? "keepdims=1" : "keepdims=0"))});
}

std::string Writer::moves() {
  const auto rank = static_cast<std::size_t>(from(2, 4));
  const Extents in = some_extents(rank, dice_.one_in(3) ? 20 : 7);
  const Made x = prologue(input(in));
  Extents out(rank);
  if (dice_.one_in(2)) {
    Extents order(rank);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = rank; i > 1; --i) std::swap(order[i - 1], order[dice_.below(i)]);
    for (std::size_t i = 0; i < rank; ++i) out[i] = in[static_cast<std::size_t>(order[i])];
    return text({epilogue(node("Transpose", {x.name}, out, "perm=" + list(order)))});
  }
  const std::size_t axis = dice_.below(rank);
  out = in;
  std::vector<std::string> parts = {x.name};
  for (std::int64_t i = from(1, 2); i > 0; --i) {
    Extents more = in;
    more[axis] = from(1, 9);
    out[axis] += more[axis];
    parts.push_back(prologue(input(more)).name);
  }
  return text({epilogue(node("Concat", parts, out, "axis=" + std::to_string(axis)))});
}

}  // namespace

std::string name_of(RegionKind kind) {
  static const std::vector<std::string> names = {"Elementwise", "Convolution", "Depthwise", "Transposed", "Separable",
                                                 "Product",     "Pooling",     "Rows",      "Moves",      "Quantised"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string random_region(RegionKind kind, std::uint64_t seed) {
  Writer writer(kind, seed);
  switch (kind) {
    case RegionKind::kElementwise:
      return writer.elementwise();
    case RegionKind::kConvolution:
      return writer.convolution(false);
    case RegionKind::kDepthwise:
      return writer.convolution(true);
    case RegionKind::kTransposed:
      return writer.transposed();
    case RegionKind::kSeparable:
      return writer.separable();
    case RegionKind::kProduct:
      return writer.product();
    case RegionKind::kPooling:
      return writer.pooling();
    case RegionKind::kRows:
      return writer.rows();
    case RegionKind::kMoves:
      return writer.moves();
    case RegionKind::kQuantised:
      return random_quantised(seed);
  }
  return {};
}

}  // namespace collage::test
