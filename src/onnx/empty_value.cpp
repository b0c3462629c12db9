#include "onnx/empty_value.h"

#include "onnx/type_proto.h"

namespace collage {
namespace {

constexpr std::int64_t kEmptyIrVersion = 8;
/// The first operator set with both operators.
constexpr std::int64_t kEmptyOpset = 15;

/// Makes the node give an optional without a value.
void make_absent(const ValueType& type, pb::NodeProto& node) {
  node.set_op_type("Optional");
  auto& attribute = *node.add_attribute();
  attribute.set_name("type");
  attribute.set_type(pb::AttributeProto::TYPE_PROTO);
  write_type(type.inner.front(), *attribute.mutable_tp());
}

}  // namespace

std::string empty_value_model(const ValueType& type) {
  pb::ModelProto model;
  model.set_ir_version(kEmptyIrVersion);
  model.add_opset_import()->set_version(kEmptyOpset);
  auto& graph = *model.mutable_graph();
  graph.set_name("empty");
  write_value_info("y", type, *graph.add_output());
  auto& node = *graph.add_node();
  node.add_output("y");
  if (type.kind == ValueKind::kOptional) {
    make_absent(type, node);
  } else {
    auto& attribute = *node.add_attribute();
    node.set_op_type("SequenceEmpty");
    attribute.set_name("dtype");
    attribute.set_type(pb::AttributeProto::INT);
    attribute.set_i(static_cast<std::int64_t>(type.inner.front().element));
  }
  return model.SerializeAsString();
}

std::optional<std::string> with_absent_inputs(std::string_view model,
                                              const std::vector<std::pair<std::string, ValueType>>& inputs) {
  pb::ModelProto changed;
  if (!changed.ParseFromArray(model.data(), static_cast<int>(model.size()))) return std::nullopt;
  auto& graph = *changed.mutable_graph();
  pb::GraphProto nodes;
  for (const auto& [name, type] : inputs) {
    auto& left = *graph.mutable_input();
    for (int i = left.size(); i-- > 0;)
      if (left.Get(i).name() == name) left.DeleteSubrange(i, 1);
    auto& node = *nodes.add_node();
    node.add_output(name);
    make_absent(type, node);
  }
  nodes.mutable_node()->MergeFrom(graph.node());
  graph.mutable_node()->Swap(nodes.mutable_node());
  return changed.SerializeAsString();
}

}  // namespace collage
