#include "tests/onnx/model_text.h"

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

namespace collage::testing {

::onnx::ModelProto model_of(const std::string& text) {
  ::onnx::ModelProto model;
  ::onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage() << "\n" << text;
  return model;
}

std::string bytes_of(const ::onnx::ModelProto& model) { return model.SerializeAsString(); }

std::string opset_model(int opset, const std::string& graph) {
  return bytes_of(model_of("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]> " + graph));
}

Result<Imported> import_with(const std::string& bytes, const std::vector<std::string>& shapes) {
  ImportOptions options;
  options.knows_vendor_operator = [](std::string_view domain, std::string_view) { return domain == "com.microsoft"; };
  auto bindings = parse_shape_bindings(shapes);
  if (!bindings) return std::unexpected(bindings.error());
  options.shapes = *bindings;
  return import_model(bytes, "", options);
}

Graph imported_graph(const std::string& bytes, const std::vector<std::string>& shapes) {
  auto imported = import_with(bytes, shapes);
  EXPECT_TRUE(imported) << to_string(imported.error());
  return imported ? imported->graph : Graph{};
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> operators;
  for (const Node& node : graph.nodes) operators.push_back(node.op_type);
  return operators;
}

const Node& node_of(const Graph& graph, const std::string& op_type) {
  static const Node kNone;
  for (const Node& node : graph.nodes)
    if (node.op_type == op_type) return node;
  ADD_FAILURE() << "no " << op_type << " in\n" << to_text(graph);
  return kNone;
}

std::string type_of(const Graph& graph, const std::string& value) {
  for (const Value& one : graph.values)
    if (one.name == value) return to_string(one.type);
  return "no such value";
}

}  // namespace collage::testing
