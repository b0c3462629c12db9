// Models written as ONNX text, for tests of import.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "onnx/import.h"

namespace collage::testing {

/// Parses ONNX's text form: `<ir_version: 8, opset_import: ["": 13]> name (float[N] x) => (float[N] y) { ... }`.
/// Fails the test when it is malformed.
::onnx::ModelProto model_of(const std::string& text);
/// The model's bytes.
std::string bytes_of(const ::onnx::ModelProto& model);
/// A body in braces at an opset, wrapped as a model: opset_model(13, "g (float[2] x) => (float[2] y) { y = Relu(x) }").
std::string opset_model(int opset, const std::string& graph);

/// Imports bytes with `--shape` arguments, vendor operators of com.microsoft known.
Result<Imported> import_with(const std::string& bytes, const std::vector<std::string>& shapes = {});
/// The graph, or a test failure with the error's text and an empty graph.
Graph imported_graph(const std::string& bytes, const std::vector<std::string>& shapes = {});

/// Operator names of the graph's nodes, in order.
std::vector<std::string> operators_of(const Graph& graph);
/// The first node of this operator; fails the test when there is none.
const Node& node_of(const Graph& graph, const std::string& op_type);
/// The type of the value with this name, as text; "no such value" when there is none.
std::string type_of(const Graph& graph, const std::string& value);
/// The error's code, or "ok".
template <class T>
std::string code_of(const Result<T>& result) {
  return result ? "ok" : result.error().code;
}

}  // namespace collage::testing
