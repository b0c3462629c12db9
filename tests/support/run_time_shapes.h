// Networks in which data decide shapes: rows that pass a test, boxes that suppression leaves, a length, a number of
// iterations. Types of values inside are left to shape inference. Inputs are static.
// In:  a width, of vectors and channels. Out: a graph as an exporter would write it, at operator set 26.
#pragma once

#include <string>
#include <vector>

#include "tests/support/small_networks.h"

namespace collage::testing_support {

class OpenNetworkBuilder : public NetworkBuilder {
 public:
  explicit OpenNetworkBuilder(std::uint64_t seed) : NetworkBuilder(seed) {}

  ValueId op(const std::string& name, std::vector<ValueId> inputs, std::vector<Attribute> attributes = {},
             ElementType type = ElementType::kFloat32) {
    return add_outputs(name, std::move(inputs), {type}, std::move(attributes)).front();
  }
  ValueId whole(const std::string& name, std::vector<ValueId> inputs, std::vector<Attribute> attributes = {}) {
    return op(name, std::move(inputs), std::move(attributes), ElementType::kInt64);
  }
  ValueId flags(const std::string& name, std::vector<ValueId> inputs) {
    return op(name, std::move(inputs), {}, ElementType::kBool);
  }
  ValueId integer(std::int64_t value) { return constant(make_tensor<std::int64_t>(ElementType::kInt64, {}, {value})); }

  /// Rows [n, width] through two products with a Relu after each.
  ValueId two_products(ValueId rows, std::int64_t width) {
    const float scale = 1.0F / static_cast<float>(width);
    const ValueId wide =
        op("Relu", {op("Add", {op("MatMul", {rows, weight({width, 4 * width}, scale)}), weight({4 * width})})});
    return op("Relu", {op("Add", {op("MatMul", {wide, weight({4 * width, width}, scale)}), weight({width})})});
  }
  ValueId conv(ValueId x, std::int64_t from, std::int64_t to, std::int64_t kernel) {
    const std::int64_t pad = kernel / 2;
    return op("Conv", {x, weight({to, from, kernel, kernel}, 1.0F / static_cast<float>(from)), weight({to})},
              {{"pads", Ints{pad, pad, pad, pad}}, {"kernel_shape", Ints{kernel, kernel}}});
  }
};

/// [64, width]: rows whose mean is above the average go through two products.
inline Graph rows_above_average(std::int64_t width) {
  OpenNetworkBuilder net(1);
  const ValueId x = net.input("x", {64, width});
  const ValueId features = net.op("Relu", {net.op("MatMul", {x, net.weight({width, width})})});
  const ValueId score = net.op("ReduceMean", {features, net.integers({1})}, {{"keepdims", std::int64_t{0}}});
  const ValueId keep = net.flags("Greater", {score, net.op("ReduceMean", {score, net.integers({0})})});
  const ValueId rows = net.whole("Squeeze", {net.whole("NonZero", {keep}), net.integers({0})});
  return net.take({net.two_products(net.op("Gather", {features, rows}), width), rows});
}

/// [1, 3, 24, 24]: boxes that suppression leaves are cut out of the features and go through convolutions.
inline Graph boxes_cut_out(std::int64_t width) {
  OpenNetworkBuilder net(2);
  const ValueId image = net.input("image", {1, 3, 24, 24});
  const ValueId features = net.op("Relu", {net.conv(image, 3, width, 3)});
  const ValueId map = net.op("Sigmoid", {net.conv(features, width, 1, 1)});
  const ValueId scores = net.op(
      "Reshape",
      {net.op("MaxPool", {map}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{3, 3}}}), net.integers({1, 1, 64})});
  std::vector<float> corners;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x)
      for (const int corner : {y, x, y + 2, x + 2}) corners.push_back(static_cast<float>(3 * corner));
  const ValueId boxes = net.op("Reshape", {net.floats(corners), net.integers({1, 64, 4})});
  const ValueId chosen =
      net.whole("NonMaxSuppression", {boxes, scores, net.integers({40}), net.floats({0.2F}), net.floats({0.4F})});
  const ValueId numbers = net.whole("Gather", {chosen, net.integer(2)}, {{"axis", std::int64_t{1}}});
  const ValueId images = net.whole("Gather", {chosen, net.integer(0)}, {{"axis", std::int64_t{1}}});
  const ValueId kept = net.op("Gather", {net.op("Squeeze", {boxes, net.integers({0})}), numbers});
  const ValueId cut = net.op(
      "RoiAlign", {features, kept, images},
      {{"output_height", std::int64_t{7}}, {"output_width", std::int64_t{7}}, {"sampling_ratio", std::int64_t{2}}});
  const ValueId first = net.op("Relu", {net.conv(cut, width, width, 3)});
  const ValueId second = net.op("Relu", {net.conv(first, width, width, 3)});
  return net.take({net.conv(second, width, 1, 1), kept});
}

/// [1, 1, 16, 16]: descriptors of the local maxima, normalised.
inline Graph key_points(std::int64_t width) {
  OpenNetworkBuilder net(3);
  const ValueId image = net.input("image", {1, 1, 16, 16});
  const ValueId features = net.op("Relu", {net.conv(image, 1, width, 3)});
  const ValueId heat = net.conv(features, width, 1, 3);
  const ValueId highest = net.op("MaxPool", {heat}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const ValueId places =
      net.whole("Transpose", {net.whole("NonZero", {net.flags("Equal", {heat, highest})})}, {{"perm", Ints{1, 0}}});
  const ValueId where = net.whole("Gather", {places, net.integers({0, 2, 3})}, {{"axis", std::int64_t{1}}});
  const ValueId last = net.op("Transpose", {features}, {{"perm", Ints{0, 2, 3, 1}}});
  const ValueId rows = net.two_products(net.op("GatherND", {last, where}), width);
  return net.take(
      {net.op("LpNormalization", {net.op("Add", {rows, net.scalar(0.1F)})}, {{"axis", std::int64_t{1}}}), where});
}

/// [64, width]: as many rows as have a positive first element, those with the largest.
inline Graph counted_rows(std::int64_t width) {
  OpenNetworkBuilder net(4);
  const ValueId x = net.input("x", {64, width});
  const ValueId score = net.op("Reshape", {net.op("MatMul", {x, net.weight({width, 1})}), net.integers({64})});
  const ValueId count = net.whole(
      "ReduceSum", {net.whole("Cast", {net.flags("Greater", {score, net.scalar(0)})}, {{"to", std::int64_t{7}}}),
                    net.integers({0})});
  const std::vector<ValueId> top =
      net.add_outputs("TopK", {score, count}, {ElementType::kFloat32, ElementType::kInt64});
  return net.take({net.two_products(net.op("Gather", {x, top[1]}), width), top[0]});
}

/// [32, width, 12]: rows that are kept go through convolutions along the last axis.
inline Graph kept_signals(std::int64_t width) {
  OpenNetworkBuilder net(5);
  const ValueId x = net.input("x", {32, width, 12});
  const ValueId level = net.op("ReduceMean", {x, net.integers({1, 2})}, {{"keepdims", std::int64_t{0}}});
  const ValueId kept =
      net.op("Compress", {x, net.flags("Greater", {level, net.scalar(0)})}, {{"axis", std::int64_t{0}}});
  const auto along = [&](ValueId signal) {
    return net.op(
        "Relu",
        {net.op("Conv", {signal, net.weight({width, width, 3}, 1.0F / static_cast<float>(width)), net.weight({width})},
                {{"pads", Ints{1, 1}}, {"kernel_shape", Ints{3}}})});
  };
  return net.take({net.op("ReduceMean", {along(along(kept)), net.integers({2})}, {{"keepdims", std::int64_t{0}}})});
}

/// [48] of numbers: each distinct one is looked up and goes through two products once; then all rows again.
inline Graph distinct_words(std::int64_t width) {
  OpenNetworkBuilder net(6);
  const ValueId x = net.input("x", {48});
  const ValueId words =
      net.whole("Cast", {net.op("Abs", {net.op("Mul", {x, net.scalar(8)})})}, {{"to", std::int64_t{7}}});
  const ValueId known = net.whole("Min", {words, net.integer(99)});
  const std::vector<ValueId> unique =
      net.add_outputs("Unique", {known}, {ElementType::kInt64, ElementType::kInt64, ElementType::kInt64});
  const ValueId rows = net.two_products(net.op("Gather", {net.weight({100, width}), unique[0]}), width);
  const ValueId all = net.op("Reshape", {net.op("Gather", {rows, unique[2]}), net.integers({48, width})});
  return net.take({net.op("Softmax", {net.op("MatMul", {all, net.weight({width, 100})})})});
}

/// [1, 3, 16, 16]: an image that is resized by what it shows, then convolutions and a classifier.
inline Graph resized_image(std::int64_t width) {
  OpenNetworkBuilder net(7);
  const ValueId image = net.input("image", {1, 3, 16, 16});
  const ValueId mean =
      net.op("ReduceMean", {net.op("Abs", {image}), net.integers({1, 2, 3})}, {{"keepdims", std::int64_t{0}}});
  const ValueId extent = net.whole("Cast", {net.op("Add", {net.op("Mul", {mean, net.scalar(12)}), net.scalar(8)})},
                                   {{"to", std::int64_t{7}}});
  const ValueId sizes = net.whole("Concat", {net.integers({1, 3}), extent, extent}, {{"axis", std::int64_t{0}}});
  const ValueId resized = net.op("Resize", {image, ValueId(), ValueId(), sizes}, {{"mode", std::string("linear")}});
  const ValueId first = net.op("Relu", {net.conv(resized, 3, width, 3)});
  const ValueId second = net.op("Relu", {net.conv(first, width, width, 3)});
  const ValueId pooled = net.op("Reshape", {net.op("GlobalAveragePool", {second}), net.integers({1, width})});
  return net.take({net.op("Softmax", {net.op("MatMul", {pooled, net.weight({width, 10})})})});
}

/// [16, width]: attention of static queries over as many positions as the data say.
inline Graph counted_positions(std::int64_t width) {
  OpenNetworkBuilder net(8);
  const ValueId x = net.input("x", {16, width});
  const ValueId mean =
      net.op("ReduceMean", {net.op("Abs", {x}), net.integers({0, 1})}, {{"keepdims", std::int64_t{0}}});
  const ValueId count = net.whole("Cast", {net.op("Add", {net.op("Mul", {mean, net.scalar(40)}), net.scalar(4)})},
                                  {{"to", std::int64_t{7}}});
  const ValueId positions = net.whole("Range", {net.integer(0), count, net.integer(1)});
  const ValueId column =
      net.op("Unsqueeze", {net.op("Cast", {positions}, {{"to", std::int64_t{1}}}), net.integers({1})});
  const ValueId angles = net.op("Sin", {net.op("MatMul", {column, net.weight({1, width})})});
  const ValueId keys = net.two_products(angles, width);
  const ValueId weights =
      net.op("Softmax", {net.op("MatMul", {x, net.op("Transpose", {keys}, {{"perm", Ints{1, 0}}})})});
  return net.take({net.op("MatMul", {weights, keys})});
}

/// [40, width]: the rows up to a length that data give, through self-attention.
inline Graph cut_to_length(std::int64_t width) {
  OpenNetworkBuilder net(9);
  const ValueId x = net.input("x", {40, width});
  const ValueId first = net.op("Gather", {net.op("Abs", {x}), net.integers({0})}, {{"axis", std::int64_t{1}}});
  const ValueId most = net.op("ReduceMean", {first, net.integers({0, 1})}, {{"keepdims", std::int64_t{0}}});
  const ValueId length = net.whole(
      "Cast", {net.op("Min", {net.op("Add", {net.op("Mul", {most, net.scalar(24)}), net.scalar(2)}), net.scalar(40)})},
      {{"to", std::int64_t{7}}});
  const ValueId rows =
      net.op("Slice", {x, net.integers({0}), net.whole("Unsqueeze", {length, net.integers({0})}), net.integers({0})});
  const auto projected = [&] {
    return net.op("MatMul", {rows, net.weight({width, width}, 1.0F / static_cast<float>(width))});
  };
  const ValueId keys = net.op("Transpose", {projected()}, {{"perm", Ints{1, 0}}});
  const ValueId shares = net.op("Softmax", {net.op("MatMul", {projected(), keys})});
  return net.take({net.two_products(net.op("Add", {rows, net.op("MatMul", {shares, projected()})}), width)});
}

/// [30, 4] boxes and scores: what suppression leaves, sorted out by class, as detectors end.
inline Graph classified_boxes(std::int64_t width) {
  OpenNetworkBuilder net(10);
  const ValueId x = net.input("x", {1, 30, width});
  const ValueId corners = net.op("MatMul", {x, net.weight({width, 2})});
  const ValueId sizes = net.op("Exp", {net.op("MatMul", {x, net.weight({width, 2}, 0.1F)})});
  const ValueId boxes = net.op("Concat", {corners, net.op("Add", {corners, sizes})}, {{"axis", std::int64_t{2}}});
  const ValueId scores = net.op("Sigmoid", {net.op("MatMul", {x, net.weight({width, 5})})});
  const ValueId by_class = net.op("Transpose", {scores}, {{"perm", Ints{0, 2, 1}}});
  const ValueId chosen =
      net.whole("NonMaxSuppression", {boxes, by_class, net.integers({10}), net.floats({0.5F}), net.floats({0.5F})});
  const ValueId numbers = net.whole("Gather", {chosen, net.integer(2)}, {{"axis", std::int64_t{1}}});
  const ValueId kept = net.op("Gather", {net.op("Squeeze", {x, net.integers({0})}), numbers});
  const ValueId places = net.op("Gather", {net.op("Squeeze", {boxes, net.integers({0})}), numbers});
  const ValueId classes = net.whole("Gather", {chosen, net.integer(1)}, {{"axis", std::int64_t{1}}});
  return net.take({net.op("Softmax", {net.two_products(kept, width)}), places, classes});
}

struct OpenNetwork {
  std::string name;
  Graph (*make)(std::int64_t width);
};

inline const std::vector<OpenNetwork>& open_networks() {
  static const std::vector<OpenNetwork> all = {{"rows_above_average", rows_above_average},
                                               {"boxes_cut_out", boxes_cut_out},
                                               {"key_points", key_points},
                                               {"counted_rows", counted_rows},
                                               {"kept_signals", kept_signals},
                                               {"distinct_words", distinct_words},
                                               {"resized_image", resized_image},
                                               {"counted_positions", counted_positions},
                                               {"cut_to_length", cut_to_length},
                                               {"classified_boxes", classified_boxes}};
  return all;
}

}  // namespace collage::testing_support
