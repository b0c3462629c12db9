#include "workload/builder.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"

namespace collage {
namespace {

std::int64_t window(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  return (extent + 2 * pad - kernel) / stride + 1;
}

/// xorshift64*: fast enough for a hundred million weights.
class FastRandom {
 public:
  explicit FastRandom(std::uint64_t seed) : state_(seed | 1) {}
  /// Uniform in [-1, 1).
  float next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    const std::uint64_t bits = state_ * 0x2545F4914F6CDD1DULL;
    return static_cast<float>(static_cast<std::int32_t>(bits >> 32)) * 0x1p-31F;
  }

 private:
  std::uint64_t state_;
};

Dim dim_of(std::int64_t extent) {
  return extent == NetBuilder::kOpenTokens ? Dim{.extent = -1, .symbol = "seq"} : Dim{.extent = extent, .symbol = ""};
}

}  // namespace

NetBuilder::NetBuilder(std::string name, const WorkloadOptions& options) : seed_(options.seed) {
  graph_.name = std::move(name);
  graph_.opsets[""] = 20;
  if (options.dynamic)
    batch_.symbol = "batch";
  else
    batch_.extent = options.batch;
}

ValueId NetBuilder::input(const std::string& name, ElementType type, const Extents& extents) {
  ValueType value_type{.kind = ValueKind::kTensor, .element = type, .shape = Shape{batch_}, .inner = {}};
  for (std::int64_t extent : extents) value_type.shape->push_back(dim_of(extent));
  const ValueId id = add_value(graph_, name, value_type);
  graph_.inputs.push_back(id);
  return id;
}

void NetBuilder::output(ValueId value, const std::string& name) {
  graph_.value(value).name = name;
  graph_.outputs.push_back(value);
}

ValueId NetBuilder::emit(const std::string& op_type, std::vector<ValueId> inputs, ElementType type, Shape shape,
                         std::vector<Attribute> attributes, const std::string& domain) {
  Node node;
  node.op_type = op_type;
  node.domain = domain;
  node.name = fresh(op_type);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const ValueType value_type{.kind = ValueKind::kTensor, .element = type, .shape = std::move(shape), .inner = {}};
  const ValueId result = add_value(graph_, node.name + "_out", value_type);
  node.outputs.push_back(result);
  add_node(graph_, std::move(node));
  return result;
}

ValueId NetBuilder::weights(const Extents& extents, double deviation, double mean) {
  const std::string name = fresh("weight");
  FastRandom random(hash_text(name, seed_));
  const auto range = static_cast<float>(deviation * std::sqrt(3.0));
  const auto centre = static_cast<float>(mean);
  const auto count = static_cast<std::size_t>(element_count(extents));
  Buffer data = Buffer::make(count * sizeof(float), [&](std::span<std::byte> bytes) {
    auto* out = reinterpret_cast<float*>(bytes.data());
    for (std::size_t i = 0; i < count; ++i) out[i] = centre + range * random.next();
  });
  return add_constant(graph_, name,
                      {.type = ElementType::kFloat32, .extents = extents, .data = std::move(data), .strings = {}});
}

ValueId NetBuilder::floats(const Extents& extents, const std::vector<float>& values) {
  return add_constant(graph_, fresh("constant"), make_tensor(ElementType::kFloat32, extents, values));
}

ValueId NetBuilder::integers(const std::vector<std::int64_t>& values) {
  return add_constant(graph_, fresh("constant"),
                      make_tensor(ElementType::kInt64, {static_cast<std::int64_t>(values.size())}, values));
}

ValueId NetBuilder::conv(ValueId x, const ConvSpec& spec) {
  const std::size_t spatial = shape(x).size() - 2;
  const std::int64_t in = extent(x, 1) / spec.groups;
  Extents weight_extents = {spec.channels, in};
  Shape result = {shape(x)[0], Dim{spec.channels, ""}};
  std::int64_t fan_in = in;
  for (std::size_t i = 0; i < spatial; ++i) {
    weight_extents.push_back(spec.kernel);
    fan_in *= spec.kernel;
    result.push_back({window(extent(x, i + 2), spec.kernel, spec.stride, spec.pad), ""});
  }
  std::vector<ValueId> inputs = {x, weights(weight_extents, spec.gain * std::sqrt(2.0 / static_cast<double>(fan_in)))};
  if (spec.bias) inputs.push_back(weights({spec.channels}, 0.05));
  const auto repeat = [](std::size_t n, std::int64_t v) { return std::vector<std::int64_t>(n, v); };
  return emit("Conv", std::move(inputs), ElementType::kFloat32, std::move(result),
              {{"group", spec.groups},
               {"kernel_shape", repeat(spatial, spec.kernel)},
               {"pads", repeat(2 * spatial, spec.pad)},
               {"strides", repeat(spatial, spec.stride)}});
}

ValueId NetBuilder::batch_norm(ValueId x) {
  const Extents channels = {extent(x, 1)};
  std::vector<ValueId> inputs = {x, weights(channels, 0.1, 0.9), weights(channels, 0.1), weights(channels, 0.1),
                                 weights(channels, 0.1, 1.0)};
  return emit("BatchNormalization", std::move(inputs), ElementType::kFloat32, shape(x), {{"epsilon", 1e-5F}});
}

ValueId NetBuilder::unary(const std::string& op_type, ValueId x, std::vector<Attribute> attributes) {
  return emit(op_type, {x}, graph_.value(x).type.element, shape(x), std::move(attributes));
}

ValueId NetBuilder::relu6(ValueId x) {
  return emit("Clip", {x, scalar(0), scalar(6)}, ElementType::kFloat32, shape(x));
}

ValueId NetBuilder::binary(const std::string& op_type, ValueId a, ValueId b) {
  const bool first_is_larger = shape(a).size() >= shape(b).size();
  Shape result = first_is_larger ? shape(a) : shape(b);
  const Shape& other = first_is_larger ? shape(b) : shape(a);
  const std::size_t skip = result.size() - other.size();
  for (std::size_t i = 0; i < other.size(); ++i)
    if (result[i + skip].extent == 1) result[i + skip] = other[i];
  return emit(op_type, {a, b}, graph_.value(a).type.element, std::move(result));
}

ValueId NetBuilder::pool(const std::string& op_type, ValueId x, const PoolSpec& spec) {
  Shape result = {shape(x)[0], shape(x)[1]};
  for (std::size_t i = 2; i < shape(x).size(); ++i)
    result.push_back({window(extent(x, i), spec.kernel, spec.stride, spec.pad), ""});
  const std::size_t spatial = result.size() - 2;
  return emit(op_type, {x}, ElementType::kFloat32, std::move(result),
              {{"kernel_shape", std::vector<std::int64_t>(spatial, spec.kernel)},
               {"pads", std::vector<std::int64_t>(2 * spatial, spec.pad)},
               {"strides", std::vector<std::int64_t>(spatial, spec.stride)}});
}

ValueId NetBuilder::global_average_pool(ValueId x) {
  Shape result = shape(x);
  for (std::size_t i = 2; i < result.size(); ++i) result[i] = {1, ""};
  return emit("GlobalAveragePool", {x}, ElementType::kFloat32, std::move(result));
}

ValueId NetBuilder::concat(const std::vector<ValueId>& parts, std::int64_t axis) {
  Shape result = shape(parts.front());
  const auto at = static_cast<std::size_t>(axis);
  result[at].extent = 0;
  for (ValueId part : parts) result[at].extent += extent(part, at);
  return emit("Concat", parts, graph_.value(parts.front()).type.element, std::move(result), {{"axis", axis}});
}

ValueId NetBuilder::upsample_nearest(ValueId x, std::int64_t scale) {
  Shape result = shape(x);
  std::vector<float> scales(result.size(), 1.0F);
  for (std::size_t i = 2; i < result.size(); ++i) {
    result[i].extent *= scale;
    scales[i] = static_cast<float>(scale);
  }
  const ValueId sizes = floats({static_cast<std::int64_t>(scales.size())}, scales);
  return emit("Resize", {x, ValueId{}, sizes}, ElementType::kFloat32, std::move(result),
              {{"coordinate_transformation_mode", std::string("asymmetric")},
               {"mode", std::string("nearest")},
               {"nearest_mode", std::string("floor")}});
}

ValueId NetBuilder::flatten(ValueId x) {
  std::int64_t columns = 1;
  for (std::size_t i = 1; i < shape(x).size(); ++i) columns *= extent(x, i);
  return emit("Flatten", {x}, ElementType::kFloat32, {shape(x)[0], Dim{columns, ""}}, {{"axis", std::int64_t{1}}});
}

ValueId NetBuilder::gemm(ValueId x, std::int64_t units) {
  const std::int64_t in = extent(x, 1);
  std::vector<ValueId> inputs = {x, weights({units, in}, std::sqrt(1.0 / static_cast<double>(in))),
                                 weights({units}, 0.05)};
  return emit("Gemm", std::move(inputs), ElementType::kFloat32, {shape(x)[0], Dim{units, ""}},
              {{"transB", std::int64_t{1}}});
}

ValueId NetBuilder::linear(ValueId x, std::int64_t units, bool bias) {
  const std::int64_t in = shape(x).back().extent;
  const ValueId product = matmul(x, weights({in, units}, std::sqrt(1.0 / static_cast<double>(in))));
  return bias ? add(product, weights({units}, 0.05)) : product;
}

ValueId NetBuilder::matmul(ValueId a, ValueId b) {
  Shape result = shape(a);
  result.back() = shape(b).back();
  return emit("MatMul", {a, b}, ElementType::kFloat32, std::move(result));
}

ValueId NetBuilder::transpose(ValueId x, const std::vector<std::int64_t>& order) {
  Shape result;
  for (std::int64_t axis : order) result.push_back(shape(x)[static_cast<std::size_t>(axis)]);
  return emit("Transpose", {x}, graph_.value(x).type.element, std::move(result), {{"perm", order}});
}

ValueId NetBuilder::reshape(ValueId x, const Extents& extents) {
  // At most one extent can be left to the operator; open tokens at their old place are copied like the batch (0).
  const bool has_open = std::ranges::find(extents, kOpenTokens) != extents.end();
  std::vector<std::int64_t> target = {batch_.is_static() ? batch_.extent : has_open ? 0 : -1};
  Shape result = {batch_};
  for (std::int64_t extent : extents) {
    const std::size_t axis = result.size();
    const bool stays = extent == kOpenTokens && axis < shape(x).size() && shape(x)[axis] == dim_of(kOpenTokens);
    target.push_back(stays ? 0 : extent);
    result.push_back(dim_of(extent));
  }
  return emit("Reshape", {x, integers(target)}, graph_.value(x).type.element, std::move(result));
}

ValueId NetBuilder::layer_norm(ValueId x, float epsilon) {
  const Extents width = {shape(x).back().extent};
  return emit("LayerNormalization", {x, weights(width, 0.05, 1.0), weights(width, 0.05)}, ElementType::kFloat32,
              shape(x), {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}});
}

ValueId attention(NetBuilder& net, ValueId x, const AttentionSpec& spec, ValueId mask) {
  const std::int64_t tokens = net.extent(x, 1);
  const std::int64_t width = net.extent(x, 2);
  const std::int64_t head = width / spec.heads;
  const auto split = [&](ValueId value) { return net.reshape(value, {tokens, spec.heads, head}); };
  const ValueId queries = net.transpose(split(net.linear(x, width, spec.bias)), {0, 2, 1, 3});
  const ValueId keys = net.transpose(split(net.linear(x, width, spec.bias)), {0, 2, 3, 1});
  const ValueId values = net.transpose(split(net.linear(x, width, spec.bias)), {0, 2, 1, 3});
  ValueId scores = net.matmul(queries, keys);
  scores = net.binary("Div", scores, net.scalar(std::sqrt(static_cast<float>(head))));
  if (mask.valid()) scores = net.add(scores, mask);
  const ValueId mixed = net.transpose(net.matmul(net.softmax(scores), values), {0, 2, 1, 3});
  return net.linear(net.reshape(mixed, {tokens, width}), width, spec.bias);
}

}  // namespace collage
