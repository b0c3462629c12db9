// The five cores the Collage paper measured. No batch normalisation, float32, one input called input0.
#include <array>

#include "workload/networks.h"

namespace collage::networks {
namespace {

/// a * (x - mean) / (std + 1e-6) + b over the last axis, with the unbiased standard deviation.
ValueId unbiased_norm(NetBuilder& net, ValueId x) {
  const std::int64_t width = net.shape(x).back().extent;
  Shape reduced = net.shape(x);
  reduced.back() = {1, ""};
  const ValueId axes = net.integers({-1});
  const std::vector<Attribute> keep = {{"keepdims", std::int64_t{1}}};
  const ValueId mean = net.emit("ReduceMean", {x, axes}, kFloat, reduced, keep);
  const ValueId centred = net.binary("Sub", x, mean);
  const ValueId squares = net.emit("ReduceSum", {net.binary("Mul", centred, centred), axes}, kFloat, reduced, keep);
  const ValueId variance = net.binary("Div", squares, net.scalar(static_cast<float>(width - 1)));
  const ValueId deviation = net.add(net.unary("Sqrt", variance), net.scalar(1e-6F));
  const ValueId scaled = net.binary("Mul", net.binary("Div", centred, deviation), net.weights({width}, 0.05, 1.0));
  return net.add(scaled, net.weights({width}, 0.05));
}

struct StageSpec {
  std::int64_t blocks;
  std::int64_t planes;
  std::int64_t stride;
};
constexpr std::array<StageSpec, 4> kStages = {{{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}}};

/// The four bottleneck stages of ResNet-50 without stem and head; `width` multiplies the inner width.
Graph bottlenecks(NetBuilder net, ValueId x, std::int64_t groups, std::int64_t width) {
  for (const StageSpec& stage : kStages)
    for (std::int64_t block = 0; block < stage.blocks; ++block) {
      const std::int64_t stride = block == 0 ? stage.stride : 1;
      const std::int64_t inner = stage.planes * width;
      const std::int64_t outer = stage.planes * 4;
      const ValueId skip = block == 0 ? net.conv(x, {.channels = outer, .stride = stride, .gain = 0.7}) : x;
      ValueId y = net.relu(net.conv(x, {.channels = inner}));
      y = net.relu(net.conv(y, {.channels = inner, .kernel = 3, .stride = stride, .pad = 1, .groups = groups}));
      y = net.conv(y, {.channels = outer, .gain = 0.3});
      x = net.relu(net.add(y, skip));
    }
  net.output(x, "output0");
  return net.take();
}

/// Depthwise KxK, then 1x1, nothing between.
ValueId separable(NetBuilder& net, ValueId x, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t channels = net.extent(x, 1);
  const ValueId depthwise = net.conv(
      x,
      {.channels = channels, .kernel = kernel, .stride = stride, .pad = kernel / 2, .groups = channels, .gain = 0.7});
  return net.conv(depthwise, {.channels = channels, .gain = 0.7});
}

ValueId average3(NetBuilder& net, ValueId x, std::int64_t stride) {
  return net.average_pool(x, {.kernel = 3, .stride = stride, .pad = 1});
}

ValueId squeeze(NetBuilder& net, ValueId x, std::int64_t channels) {
  return net.relu(net.conv(x, {.channels = channels, .bias = true, .gain = 0.5}));
}

ValueId normal_cell(NetBuilder& net, ValueId current, ValueId previous, std::int64_t channels) {
  const ValueId cur = squeeze(net, current, channels);
  const ValueId prev = squeeze(net, previous, channels);
  return net.concat(
      {net.add(separable(net, cur, 3, 1), cur), net.add(separable(net, prev, 3, 1), separable(net, cur, 3, 1)),
       net.add(average3(net, cur, 1), prev), net.add(average3(net, prev, 1), average3(net, prev, 1)),
       net.add(separable(net, prev, 3, 1), separable(net, prev, 3, 1))},
      1);
}

ValueId reduction_cell(NetBuilder& net, ValueId current, ValueId previous, std::int64_t channels) {
  const ValueId cur = squeeze(net, current, channels);
  const ValueId prev = squeeze(net, previous, channels);
  const auto max3 = [&net](ValueId x) { return net.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1}); };
  const ValueId o0 = net.add(separable(net, prev, 7, 2), separable(net, cur, 5, 2));
  const ValueId o1 = net.add(max3(cur), separable(net, prev, 7, 2));
  const ValueId o2 = net.add(average3(net, cur, 2), separable(net, cur, 5, 2));
  const ValueId o3 = net.add(max3(cur), separable(net, o0, 3, 1));
  const ValueId o4 = net.add(average3(net, o0, 1), o1);
  return net.concat({o0, o1, o2, o3, o4}, 1);
}

}  // namespace

Graph bert_full(const WorkloadOptions& options) {
  constexpr std::int64_t kWidth = 256;
  NetBuilder net("bert_full", options);
  const std::int64_t tokens = options.seq > 0 ? options.seq : 64;
  ValueId x = net.input("input0", kFloat, {options.dynamic_seq ? NetBuilder::kOpenTokens : tokens, kWidth});
  for (std::int64_t layer = 0; layer < (options.layers > 0 ? options.layers : 8); ++layer) {
    x = net.add(x, attention(net, unbiased_norm(net, x), {.heads = 8}));
    x = net.add(x, net.linear(net.relu(net.linear(unbiased_norm(net, x), 4 * kWidth)), kWidth));
  }
  net.output(x, "output0");
  return net.take();
}

Graph dcgan(const WorkloadOptions& options) {
  NetBuilder net("dcgan", options);
  ValueId x = net.gemm(net.input("input0", kFloat, {100}), 128 * 64 * 64);
  x = net.reshape(x, {128, 64, 64});
  for (std::int64_t channels : {128, 64}) {
    x = net.conv(net.upsample_nearest(x, 2), {.channels = channels, .kernel = 3, .pad = 1, .bias = true});
    x = net.relu(x);
  }
  x = net.unary("Tanh", net.conv(x, {.channels = 3, .kernel = 3, .pad = 1, .bias = true, .gain = 0.5}));
  for (std::int64_t channels : {16, 32, 64, 128})
    x = net.relu(net.conv(x, {.channels = channels, .kernel = 3, .stride = 2, .pad = 1, .bias = true}));
  net.output(net.unary("Sigmoid", net.gemm(net.flatten(x), 1)), "output0");
  return net.take();
}

Graph nasneta(const WorkloadOptions& options) {
  NetBuilder net("nasneta", options);
  ValueId current = net.input("input0", kFloat, {64, 56, 56});
  ValueId previous = current;
  for (std::int64_t channels : {64, 128, 256}) {
    if (channels > 64) previous = current = reduction_cell(net, current, previous, channels);
    for (int cell = 0; cell < 5; ++cell) {
      const ValueId next = normal_cell(net, current, previous, channels);
      previous = std::exchange(current, next);
    }
  }
  net.output(current, "output0");
  return net.take();
}

Graph resnet50_3d(const WorkloadOptions& options) {
  NetBuilder net("resnet50_3d", options);
  const ValueId x = net.input("input0", kFloat, {64, 3, 56, 56});
  return bottlenecks(std::move(net), x, 1, 1);
}

Graph resnext50_32x4d(const WorkloadOptions& options) {
  NetBuilder net("resnext50_32x4d", options);
  const ValueId x = net.input("input0", kFloat, {64, 56, 56});
  return bottlenecks(std::move(net), x, 32, 2);
}

}  // namespace collage::networks
