#include "onnx/known_operators.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "onnx/operator_names.h"

namespace collage {
namespace {

/// ONNX's inference narrows an axis to 32 bits before it checks it, and then writes outside the shape.
Result<void> check_axis(const pb::NodeProto& node) {
  constexpr std::int64_t kMostRank = 64;
  const std::int64_t axis = int_attribute(node, "axis", 0);
  if (axis >= -kMostRank && axis <= kMostRank) return {};
  return fail(ExitCode::kBadInput, "import/invalid-model", describe(node), "axis " + std::to_string(axis),
              "an axis of its input");
}

class Checker {
 public:
  Checker(const pb::ModelProto& model, const KnowsVendorOperator& knows_vendor) : knows_vendor_(knows_vendor) {
    for (const auto& function : model.functions()) functions_.insert({function.domain(), function.name()});
  }

  Result<void> check(const auto& nodes, const auto& opset_imports) {
    std::map<std::string, std::int64_t> versions;
    for (const auto& opset : opset_imports) versions[opset.domain()] = opset.version();
    for (const auto& node : nodes) COLLAGE_TRY_VOID(check_deep(node, versions));
    return {};
  }

 private:
  Result<void> check_deep(const pb::NodeProto& node, const std::map<std::string, std::int64_t>& versions) {
    COLLAGE_TRY_VOID(check_one(node, versions));
    if (is_onnx_domain(node.domain())) COLLAGE_TRY_VOID(check_axis(node));
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g())
        for (const auto& inner : attribute.g().node()) COLLAGE_TRY_VOID(check_deep(inner, versions));
      for (const auto& body : attribute.graphs())
        for (const auto& inner : body.node()) COLLAGE_TRY_VOID(check_deep(inner, versions));
    }
    return {};
  }

  Result<void> check_one(const pb::NodeProto& node, const std::map<std::string, std::int64_t>& versions) {
    if (functions_.contains({node.domain(), node.op_type()})) return {};
    const auto unknown = [&](std::string allowed) {
      return fail(ExitCode::kUnsupported, "import/unknown-operator", describe(node), "an operator nobody here knows",
                  std::move(allowed));
    };
    const auto version = versions.find(node.domain());
    if (!is_onnx_domain(node.domain())) {
      if (knows_vendor_ && knows_vendor_(node.domain(), node.op_type())) return {};
      return unknown("operators of ONNX and of the backends that are installed");
    }
    if (version == versions.end())
      return fail(ExitCode::kBadInput, "import/invalid-model", describe(node),
                  "a domain that the model does not import", "an opset_import for it");
    const auto* registry = pb::OpSchemaRegistry::Instance();
    const int at = static_cast<int>(std::min<std::int64_t>(version->second, 1'000'000));
    if (registry->GetSchema(node.op_type(), at, node.domain())) return {};
    if (node.domain().empty() && (is_rewritten_experiment(node.op_type()) || is_accepted_early(node.op_type())))
      return {};
    if (const auto* later = pb::OpSchemaRegistry::Schema(node.op_type(), node.domain()))
      return fail(ExitCode::kUnsupported, "import/newer-operator", describe(node),
                  "an operator of opset " + std::to_string(later->SinceVersion()) + " in a model of opset " +
                      std::to_string(version->second),
                  "operators that the model's opset has");
    return unknown("operators of ONNX at opset " + std::to_string(version->second));
  }

  const KnowsVendorOperator& knows_vendor_;
  std::set<std::pair<std::string, std::string>> functions_;
};

}  // namespace

bool is_onnx_domain(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx.ml" || domain == "ai.onnx.training" || domain == "ai.onnx.preview" ||
         domain == "ai.onnx.preview.training";
}

std::vector<std::string> operator_names() {
  std::set<std::string> names;
  for (const auto& schema : pb::OpSchemaRegistry::get_all_schemas_with_history())
    if (is_onnx_domain(schema.domain()))
      names.insert(schema.domain().empty() ? schema.Name() : schema.domain() + "::" + schema.Name());
  return {names.begin(), names.end()};
}

bool is_rewritten_experiment(std::string_view op) {
  constexpr std::array<std::string_view, 3> kExperiments = {"Affine", "Crop", "ImageScaler"};
  return std::ranges::find(kExperiments, op) != kExperiments.end();
}

bool is_accepted_early(std::string_view op) { return op == "LayerNormalization"; }

Result<void> check_operators(const pb::ModelProto& model, const KnowsVendorOperator& knows_vendor) {
  Checker checker(model, knows_vendor);
  COLLAGE_TRY_VOID(checker.check(model.graph().node(), model.opset_import()));
  for (const auto& function : model.functions())
    COLLAGE_TRY_VOID(checker.check(function.node(), function.opset_import()));
  return {};
}

void drop_unused_domains(pb::ModelProto& model) {
  std::set<std::string> used = {""};
  for_each_graph(model.graph(), [&](const pb::GraphProto& graph) {
    for (const auto& node : graph.node()) used.insert(node.domain());
  });
  auto& opsets = *model.mutable_opset_import();
  opsets.erase(
      std::remove_if(opsets.begin(), opsets.end(), [&](const auto& opset) { return !used.contains(opset.domain()); }),
      opsets.end());
}

}  // namespace collage
