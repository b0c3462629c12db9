#include "onnx/vendor_types.h"

#include <set>

#include "onnx/known_operators.h"
#include "onnx/operator_names.h"
#include "onnx/schemas/contrib_schemas.h"
#include "onnx/type_proto.h"

namespace collage {
namespace {

/// Values of the outermost graph that operators without inference give.
std::vector<std::string> unknown_values(const pb::ModelProto& model) {
  UnfitBranches unfit;
  const Schemas schemas(unfit);
  std::set<std::pair<std::string, std::string>> functions;
  for (const auto& function : model.functions()) functions.emplace(function.domain(), function.name());
  std::vector<std::string> names;
  for (const auto& node : model.graph().node()) {
    if (is_onnx_domain(node.domain()) || node.domain() == "ai.onnx") continue;
    if (functions.contains({node.domain(), node.op_type()}) || schemas.GetSchema(node.op_type(), 1, node.domain()))
      continue;
    for (const std::string& output : node.output())
      if (!output.empty()) names.push_back(output);
  }
  return names;
}

}  // namespace

Result<VendorTypes> ask_vendor_types(const pb::ModelProto& model, const VendorTypeSource& source) {
  if (!source) return {};
  const std::vector<std::string> names = unknown_values(model);
  if (names.empty()) return {};
  pb::ModelProto asked = model;
  asked.mutable_graph()->clear_output();
  asked.mutable_graph()->clear_value_info();
  for (const std::string& name : names) asked.mutable_graph()->add_output()->set_name(name);
  std::string bytes;
  if (!asked.SerializeToString(&bytes))
    return fail(ExitCode::kLimit, "import/too-large", "model", "more than 2 GiB of weights", "2 GiB in all");
  return source(bytes);
}

void declare_vendor_types(const VendorTypes& types, pb::GraphProto& graph) {
  if (types.empty()) return;
  std::map<std::string, pb::ValueInfoProto*> outputs;
  for (auto& output : *graph.mutable_output()) outputs[output.name()] = &output;
  std::set<std::string> made;
  for (const auto& node : graph.node()) made.insert(node.output().begin(), node.output().end());
  for (const auto& [name, type] : types) {
    if (!made.contains(name)) continue;
    const auto output = outputs.find(name);
    write_value_info(name, type, output != outputs.end() ? *output->second : *graph.add_value_info());
  }
}

}  // namespace collage
