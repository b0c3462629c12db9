// Builds a network operator by operator: tracks shapes, and scales random weights so that activations stay near 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "workload/workload.h"

namespace collage {

struct ConvSpec {
  std::int64_t channels = 0;  ///< out
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t groups = 1;
  bool bias = false;
  double gain = 1;  ///< of the weights' deviation; below 1 at the end of residual branches
};

struct PoolSpec {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t pad = 0;
};

class NetBuilder {
 public:
  NetBuilder(std::string name, const WorkloadOptions& options);

  /// Stands for the open number of tokens among extents.
  static constexpr std::int64_t kOpenTokens = -1;

  /// A graph input [batch, extents...].
  ValueId input(const std::string& name, ElementType type, const Extents& extents);
  void output(ValueId value, const std::string& name);
  [[nodiscard]] Graph take() { return std::move(graph_); }

  [[nodiscard]] const Shape& shape(ValueId value) const { return *graph_.value(value).type.shape; }
  [[nodiscard]] std::int64_t extent(ValueId value, std::size_t axis) const { return shape(value)[axis].extent; }
  [[nodiscard]] const Dim& batch() const { return batch_; }

  ValueId conv(ValueId x, const ConvSpec& spec);
  ValueId batch_norm(ValueId x);
  ValueId conv_bn(ValueId x, const ConvSpec& spec) { return batch_norm(conv(x, spec)); }
  ValueId unary(const std::string& op_type, ValueId x, std::vector<Attribute> attributes = {});
  ValueId relu(ValueId x) { return unary("Relu", x); }
  ValueId relu6(ValueId x);
  ValueId leaky_relu(ValueId x, float slope) { return unary("LeakyRelu", x, {{"alpha", slope}}); }
  /// Element-wise with broadcasting; the result has the larger operand's shape.
  ValueId binary(const std::string& op_type, ValueId a, ValueId b);
  ValueId add(ValueId a, ValueId b) { return binary("Add", a, b); }
  ValueId max_pool(ValueId x, const PoolSpec& spec) { return pool("MaxPool", x, spec); }
  ValueId average_pool(ValueId x, const PoolSpec& spec) { return pool("AveragePool", x, spec); }
  ValueId global_average_pool(ValueId x);
  ValueId concat(const std::vector<ValueId>& parts, std::int64_t axis);
  ValueId upsample_nearest(ValueId x, std::int64_t scale);
  ValueId flatten(ValueId x);
  /// [n, k] -> [n, units], with bias, as Gemm with transposed weights.
  ValueId gemm(ValueId x, std::int64_t units);
  /// [..., k] -> [..., units] as MatMul and Add.
  ValueId linear(ValueId x, std::int64_t units, bool bias = true);
  ValueId matmul(ValueId a, ValueId b);
  ValueId transpose(ValueId x, const std::vector<std::int64_t>& order);
  /// The batch dimension first, then `extents`.
  ValueId reshape(ValueId x, const Extents& extents);
  ValueId softmax(ValueId x) { return unary("Softmax", x, {{"axis", std::int64_t{-1}}}); }
  ValueId layer_norm(ValueId x, float epsilon);
  ValueId scalar(float value) { return floats({}, {value}); }
  ValueId floats(const Extents& extents, const std::vector<float>& values);
  ValueId integers(const std::vector<std::int64_t>& values);
  /// Random weights with this standard deviation around `mean`.
  ValueId weights(const Extents& extents, double deviation, double mean = 0);
  ValueId emit(const std::string& op_type, std::vector<ValueId> inputs, ElementType type, Shape shape,
               std::vector<Attribute> attributes = {}, const std::string& domain = {});

 private:
  ValueId pool(const std::string& op_type, ValueId x, const PoolSpec& spec);
  std::string fresh(const std::string& stem) { return stem + "_" + std::to_string(counter_++); }

  Graph graph_;
  Dim batch_;
  std::uint64_t seed_;
  std::size_t counter_ = 0;
};

/// Multi-head attention: queries, keys and values projected from x, mask added to the scores when given.
struct AttentionSpec {
  std::int64_t heads = 8;
  bool bias = true;
};
ValueId attention(NetBuilder& net, ValueId x, const AttentionSpec& spec, ValueId mask = {});

}  // namespace collage
