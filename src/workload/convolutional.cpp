// Complete convolutional networks at their usual input sizes, batch normalisation left in as exporters write it.
#include <array>

#include "workload/networks.h"

namespace collage::networks {
namespace {

ValueId conv_bn_relu6(NetBuilder& net, ValueId x, const ConvSpec& spec) { return net.relu6(net.conv_bn(x, spec)); }

ValueId inverted_residual(NetBuilder& net, ValueId x, std::int64_t expand, std::int64_t channels, std::int64_t stride) {
  const std::int64_t in = net.extent(x, 1);
  const std::int64_t inner = in * expand;
  ValueId y = expand == 1 ? x : conv_bn_relu6(net, x, {.channels = inner});
  y = conv_bn_relu6(net, y, {.channels = inner, .kernel = 3, .stride = stride, .pad = 1, .groups = inner});
  y = net.conv_bn(y, {.channels = channels, .gain = 0.7});
  return stride == 1 && in == channels ? net.add(x, y) : y;
}

ValueId bottleneck(NetBuilder& net, ValueId x, std::int64_t planes, std::int64_t stride, bool project) {
  const ValueId skip = project ? net.conv_bn(x, {.channels = planes * 4, .stride = stride, .gain = 0.7}) : x;
  ValueId y = net.relu(net.conv_bn(x, {.channels = planes}));
  y = net.relu(net.conv_bn(y, {.channels = planes, .kernel = 3, .stride = stride, .pad = 1}));
  return net.relu(net.add(net.conv_bn(y, {.channels = planes * 4, .gain = 0.3}), skip));
}

ValueId fire(NetBuilder& net, ValueId x, std::int64_t squeezed, std::int64_t expanded) {
  const ValueId s = net.relu(net.conv(x, {.channels = squeezed, .bias = true}));
  const ValueId a = net.relu(net.conv(s, {.channels = expanded, .bias = true}));
  const ValueId b = net.relu(net.conv(s, {.channels = expanded, .kernel = 3, .pad = 1, .bias = true}));
  return net.concat({a, b}, 1);
}

ValueId dark(NetBuilder& net, ValueId x, std::int64_t channels, std::int64_t kernel, std::int64_t stride = 1,
             double gain = 1) {
  const ConvSpec spec{.channels = channels, .kernel = kernel, .stride = stride, .pad = kernel / 2, .gain = gain};
  return net.leaky_relu(net.conv_bn(x, spec), 0.1F);
}

/// One scale of YOLOv3: five convolutions; gives the branch for the next scale and the raw head.
std::pair<ValueId, ValueId> yolo_scale(NetBuilder& net, ValueId x, std::int64_t channels) {
  for (int i = 0; i < 2; ++i) x = dark(net, dark(net, x, channels, 1), channels * 2, 3);
  x = dark(net, x, channels, 1);
  const ValueId head = net.conv(dark(net, x, channels * 2, 3), {.channels = 255, .bias = true});
  return {x, head};
}

}  // namespace

Graph mnist(const WorkloadOptions& options) {
  NetBuilder net("mnist", options);
  ValueId x = net.input("input0", kFloat, {1, 28, 28});
  x = net.relu(net.conv(x, {.channels = 32, .kernel = 3, .bias = true}));
  x = net.relu(net.conv(x, {.channels = 64, .kernel = 3, .bias = true}));
  x = net.flatten(net.max_pool(x, {.kernel = 2, .stride = 2}));
  net.output(net.softmax(net.gemm(net.relu(net.gemm(x, 128)), 10)), "output0");
  return net.take();
}

Graph resnet50(const WorkloadOptions& options) {
  NetBuilder net("resnet50", options);
  ValueId x = net.input("input0", kFloat, {3, 224, 224});
  x = net.relu(net.conv_bn(x, {.channels = 64, .kernel = 7, .stride = 2, .pad = 3}));
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  constexpr std::array<std::int64_t, 4> kBlocks = {3, 4, 6, 3};
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage)
    for (std::int64_t block = 0; block < kBlocks[stage]; ++block)
      x = bottleneck(net, x, std::int64_t{64} << stage, stage > 0 && block == 0 ? 2 : 1, block == 0);
  net.output(net.gemm(net.flatten(net.global_average_pool(x)), 1000), "output0");
  return net.take();
}

Graph mobilenet_v2(const WorkloadOptions& options) {
  struct Row {
    std::int64_t expand, channels, repeats, stride;
  };
  constexpr std::array<Row, 7> kRows = {
      {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}};
  NetBuilder net("mobilenet_v2", options);
  ValueId x = net.input("input0", kFloat, {3, 224, 224});
  x = conv_bn_relu6(net, x, {.channels = 32, .kernel = 3, .stride = 2, .pad = 1});
  for (const Row& row : kRows)
    for (std::int64_t i = 0; i < row.repeats; ++i)
      x = inverted_residual(net, x, row.expand, row.channels, i == 0 ? row.stride : 1);
  x = conv_bn_relu6(net, x, {.channels = 1280});
  net.output(net.gemm(net.flatten(net.global_average_pool(x)), 1000), "output0");
  return net.take();
}

Graph squeezenet1_1(const WorkloadOptions& options) {
  NetBuilder net("squeezenet1_1", options);
  ValueId x = net.input("input0", kFloat, {3, 224, 224});
  x = net.relu(net.conv(x, {.channels = 64, .kernel = 3, .stride = 2, .bias = true}));
  const PoolSpec pool{.kernel = 3, .stride = 2};
  x = fire(net, fire(net, net.max_pool(x, pool), 16, 64), 16, 64);
  x = fire(net, fire(net, net.max_pool(x, pool), 32, 128), 32, 128);
  x = fire(net, fire(net, net.max_pool(x, pool), 48, 192), 48, 192);
  x = fire(net, fire(net, x, 64, 256), 64, 256);
  x = net.relu(net.conv(x, {.channels = 1000, .bias = true}));
  net.output(net.flatten(net.global_average_pool(x)), "output0");
  return net.take();
}

Graph vgg16(const WorkloadOptions& options) {
  NetBuilder net("vgg16", options);
  ValueId x = net.input("input0", kFloat, {3, 224, 224});
  for (const auto& [channels, repeats] : {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < repeats; ++i)
      x = net.relu(net.conv(x, {.channels = channels, .kernel = 3, .pad = 1, .bias = true}));
    x = net.max_pool(x, {.kernel = 2, .stride = 2});
  }
  x = net.relu(net.gemm(net.flatten(x), 4096));
  net.output(net.gemm(net.relu(net.gemm(x, 4096)), 1000), "output0");
  return net.take();
}

Graph densenet121(const WorkloadOptions& options) {
  constexpr std::int64_t kGrowth = 32;
  NetBuilder net("densenet121", options);
  const auto bn_relu = [&net](ValueId x) { return net.relu(net.batch_norm(x)); };
  ValueId x = net.input("input0", kFloat, {3, 224, 224});
  x = net.relu(net.conv_bn(x, {.channels = 64, .kernel = 7, .stride = 2, .pad = 3}));
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  constexpr std::array<int, 4> kLayers = {6, 12, 24, 16};
  for (std::size_t block = 0; block < kLayers.size(); ++block) {
    std::vector<ValueId> features = {x};  // every layer joins all of them anew, as exporters write it
    for (int layer = 0; layer < kLayers[block]; ++layer) {
      const ValueId inner = net.conv(bn_relu(x), {.channels = 4 * kGrowth});
      features.push_back(net.conv(bn_relu(inner), {.channels = kGrowth, .kernel = 3, .pad = 1}));
      x = net.concat(features, 1);
    }
    if (block + 1 == kLayers.size()) break;
    x = net.average_pool(net.conv(bn_relu(x), {.channels = net.extent(x, 1) / 2}), {.kernel = 2, .stride = 2});
  }
  net.output(net.gemm(net.flatten(net.global_average_pool(bn_relu(x))), 1000), "output0");
  return net.take();
}

Graph yolov3(const WorkloadOptions& options) {
  NetBuilder net("yolov3", options);
  ValueId x = dark(net, net.input("input0", kFloat, {3, 416, 416}), 32, 3);
  std::vector<ValueId> routes;
  std::int64_t channels = 64;
  for (int repeats : {1, 2, 8, 8, 4}) {
    x = dark(net, x, channels, 3, 2);
    for (int i = 0; i < repeats; ++i) x = net.add(x, dark(net, dark(net, x, channels / 2, 1), channels, 3, 1, 0.4));
    routes.push_back(x);
    channels *= 2;
  }
  auto [branch, large] = yolo_scale(net, x, 512);
  x = net.concat({net.upsample_nearest(dark(net, branch, 256, 1), 2), routes[3]}, 1);
  auto [next, medium] = yolo_scale(net, x, 256);
  x = net.concat({net.upsample_nearest(dark(net, next, 128, 1), 2), routes[2]}, 1);
  const ValueId small = yolo_scale(net, x, 128).second;
  net.output(large, "output0");
  net.output(medium, "output1");
  net.output(small, "output2");
  return net.take();
}

Graph unet(const WorkloadOptions& options) {
  NetBuilder net("unet", options);
  const auto twice = [&net](ValueId x, std::int64_t channels) {
    for (int i = 0; i < 2; ++i) x = net.relu(net.conv_bn(x, {.channels = channels, .kernel = 3, .pad = 1}));
    return x;
  };
  constexpr std::array<std::int64_t, 5> kLevels = {32, 64, 128, 256, 512};
  ValueId x = net.input("input0", kFloat, {3, 256, 256});
  std::vector<ValueId> skips;
  for (const std::int64_t channels : kLevels) {
    skips.push_back(twice(x, channels));
    x = net.max_pool(skips.back(), {.kernel = 2, .stride = 2});
  }
  x = twice(x, 1024);
  for (std::size_t level = kLevels.size(); level-- > 0;) {
    const ValueId up = net.conv(net.upsample_nearest(x, 2), {.channels = kLevels[level], .kernel = 3, .pad = 1});
    x = twice(net.concat({skips[level], up}, 1), kLevels[level]);
  }
  net.output(net.conv(x, {.channels = 1, .bias = true}), "output0");
  return net.take();
}

}  // namespace collage::networks
