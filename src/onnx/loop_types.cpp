#include "onnx/loop_types.h"

namespace collage {
namespace {

bool has_shape(const pb::ValueInfoProto& value) {
  return value.type().has_tensor_type() && value.type().tensor_type().has_shape();
}

bool open_input(pb::ValueInfoProto& before, const pb::ValueInfoProto& after) {
  if (!has_shape(before) || !has_shape(after)) return false;
  auto& shape = *before.mutable_type()->mutable_tensor_type()->mutable_shape();
  const auto& made = after.type().tensor_type().shape();
  if (shape.dim_size() != made.dim_size()) {
    before.mutable_type()->mutable_tensor_type()->clear_shape();
    return true;
  }
  bool has_opened = false;
  for (int d = 0; d < shape.dim_size(); ++d) {
    auto& dim = *shape.mutable_dim(d);
    if (!dim.has_dim_value() || (made.dim(d).has_dim_value() && made.dim(d).dim_value() == dim.dim_value())) continue;
    dim.clear_dim_value();
    has_opened = true;
  }
  return has_opened;
}

/// A Loop's body reads a count, a condition, then carried values; it gives a condition, then carried values.
bool open_carried(pb::GraphProto& body, int carried) {
  bool has_opened = false;
  for (int k = 0; k < carried && k + 2 < body.input_size() && k + 1 < body.output_size(); ++k)
    has_opened |= open_input(*body.mutable_input(k + 2), body.output(k + 1));
  return has_opened;
}

}  // namespace

bool open_changing_inputs(pb::GraphProto& graph) {
  bool has_opened = false;
  for_each_graph(graph, [&](pb::GraphProto& one) {
    for (auto& node : *one.mutable_node()) {
      if (!is_standard_op(node, "Loop")) continue;
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) has_opened |= open_carried(*attribute.mutable_g(), node.input_size() - 2);
    }
  });
  return has_opened;
}

}  // namespace collage
