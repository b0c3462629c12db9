#include "onnx/check_structure.h"

#include <onnx/defs/data_type_utils.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "onnx/operator_names.h"

namespace collage {
namespace {

std::unexpected<Error> misfit(std::string where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "import/invalid-model", std::move(where), std::move(saw), std::move(allowed));
}

/// Bodies are as deep as the survey of the file allows.
class StructureWalk {
 public:
  explicit StructureWalk(bool is_function) : is_function_(is_function) {}

  Result<void> nodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& all) const {
    for (const auto& node : all) {
      for (const auto& attribute : node.attribute()) COLLAGE_TRY_VOID(of_attribute(node, attribute));
      if (is_standard_op(node, "If")) COLLAGE_TRY_VOID(branches(node));
      if (is_standard_op(node, "Constant")) COLLAGE_TRY_VOID(constant(node));
    }
    return {};
  }

 private:
  Result<void> of_attribute(const pb::NodeProto& node, const pb::AttributeProto& attribute) const {
    if (!is_function_ && !attribute.ref_attr_name().empty())
      return misfit(describe(node) + " attribute '" + attribute.name() + "'",
                    "a reference to attribute '" + attribute.ref_attr_name() + "' of a function", "a value");
    if (attribute.has_g()) COLLAGE_TRY_VOID(nodes(attribute.g().node()));
    for (const auto& body : attribute.graphs()) COLLAGE_TRY_VOID(nodes(body.node()));
    return {};
  }

  static Result<void> branches(const pb::NodeProto& node) {
    for (const char* name : {"then_branch", "else_branch"}) {
      const auto* branch = attribute_of(node, name);
      if (!branch || !branch->has_g())
        return misfit(describe(node), std::string("no graph in ") + name, "a graph in each branch");
      const std::string where = describe(node) + " attribute '" + name + "'";
      if (branch->g().input_size() != 0)
        return misfit(where, std::to_string(branch->g().input_size()) + " inputs", "a branch without inputs");
      if (branch->g().output_size() != node.output_size())
        return misfit(where, std::to_string(branch->g().output_size()) + " outputs",
                      std::to_string(node.output_size()) + ", as its node has");
    }
    return {};
  }

  static Result<void> constant(const pb::NodeProto& node) {
    const auto values = std::ranges::count_if(node.attribute(), [](const pb::AttributeProto& attribute) {
      return attribute.name() == "sparse_value" || attribute.name().starts_with("value");
    });
    if (values == 1) return {};
    return misfit(describe(node), std::to_string(values) + " values", "one of value, sparse_value, value_int, ...");
  }

  bool is_function_;
};

Result<void> check_function_outputs(const pb::FunctionProto& function) {
  std::set<std::string> made(function.input().begin(), function.input().end());
  for (const auto& node : function.node()) made.insert(node.output().begin(), node.output().end());
  for (const auto& output : function.output())
    if (!made.contains(output))
      return misfit("function '" + function.name() + "'", "output '" + output + "', which nothing makes",
                    "outputs that its nodes make");
  return {};
}

using TypesByName = std::unordered_map<std::string, const pb::TypeProto*>;

/// Type parameter ("T") -> the type it stands for in one node, and which operand said so.
using Bound = std::map<std::string, std::pair<pb::DataType, int>>;

Result<void> check_operand(const pb::NodeProto& node, int i, const pb::OpSchema::FormalParameter& parameter,
                           const pb::TypeProto& type, Bound& bound) {
  const pb::DataType seen = pb::Utils::DataTypeUtils::ToType(type);
  const auto where = [&] { return describe(node) + " operand " + std::to_string(i); };
  if (!parameter.GetTypes().empty() && !parameter.GetTypes().contains(seen))
    return misfit(where(), *seen, "a type that the operator takes there");
  const bool is_free =
      parameter.GetOption() == pb::OpSchema::FormalParameterOption::Variadic && !parameter.GetIsHomogeneous();
  if (is_free) return {};
  const auto [known, is_new] = bound.emplace(parameter.GetTypeStr(), std::pair{seen, i});
  if (is_new || known->second.first == seen) return {};
  return misfit(where(), *seen, *known->second.first + ", the type of operand " + std::to_string(known->second.second));
}

Result<void> check_node_types(const pb::NodeProto& node, const pb::OpSchema& schema, const TypesByName& types) {
  Bound bound;
  const auto& parameters = schema.inputs();
  for (int i = 0; i < node.input_size() && !parameters.empty(); ++i) {
    const auto at = std::min(static_cast<std::size_t>(i), parameters.size() - 1);
    const auto found = types.find(node.input(i));
    if (found == types.end() || !found->second->has_tensor_type() ||
        found->second->tensor_type().elem_type() == pb::TensorProto::UNDEFINED)
      continue;
    COLLAGE_TRY_VOID(check_operand(node, i, parameters[at], *found->second, bound));
  }
  return {};
}

}  // namespace

Result<void> check_structure(const pb::ModelProto& model) {
  COLLAGE_TRY_VOID(StructureWalk(false).nodes(model.graph().node()));
  for (const auto& function : model.functions()) {
    COLLAGE_TRY_VOID(check_function_outputs(function));
    COLLAGE_TRY_VOID(StructureWalk(true).nodes(function.node()));
  }
  return {};
}

Result<void> check_operand_types(const pb::ModelProto& model) {
  TypesByName types;
  for (const auto* values : {&model.graph().input(), &model.graph().value_info(), &model.graph().output()})
    for (const auto& value : *values) types[value.name()] = &value.type();
  std::vector<pb::TypeProto> constants(static_cast<std::size_t>(model.graph().initializer_size()));
  for (int i = 0; i < model.graph().initializer_size(); ++i) {
    pb::TypeProto& type = constants[static_cast<std::size_t>(i)];
    type.mutable_tensor_type()->set_elem_type(model.graph().initializer(i).data_type());
    types[model.graph().initializer(i).name()] = &type;
  }
  Result<void> result;
  for (const auto& node : model.graph().node()) {
    if (!is_onnx_domain(node.domain())) continue;
    const auto* schema = pb::OpSchemaRegistry::Instance()->GetSchema(
        node.op_type(), static_cast<int>(std::max<std::int64_t>(1, opset_of(model, node.domain()))), node.domain());
    if (!schema) continue;
    COLLAGE_TRY_VOID(guarded(ExitCode::kBadInput, "import/invalid-model", describe(node),
                             [&] { result = check_node_types(node, *schema, types); }));
    if (!result) return result;
  }
  return {};
}

}  // namespace collage
