#include "onnx/empty_value.h"

#include "onnx/type_proto.h"

namespace collage {
namespace {

constexpr std::int64_t kEmptyIrVersion = 8;
/// The first operator set with both operators.
constexpr std::int64_t kEmptyOpset = 15;

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
  auto& attribute = *node.add_attribute();
  if (type.kind == ValueKind::kOptional) {
    node.set_op_type("Optional");
    attribute.set_name("type");
    attribute.set_type(pb::AttributeProto::TYPE_PROTO);
    write_type(type.inner.front(), *attribute.mutable_tp());
  } else {
    node.set_op_type("SequenceEmpty");
    attribute.set_name("dtype");
    attribute.set_type(pb::AttributeProto::INT);
    attribute.set_i(static_cast<std::int64_t>(type.inner.front().element));
  }
  return model.SerializeAsString();
}

}  // namespace collage
