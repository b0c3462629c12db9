#include <algorithm>
#include <unordered_map>
#include <vector>

#include "onnx/rules/attribute_rules.h"

namespace collage {
namespace {

/// "Conv", "ai.onnx.ml::Normalizer".
std::string rule_key(const pb::NodeProto& node) {
  return node.domain().empty() ? node.op_type() : node.domain() + "::" + node.op_type();
}

using RulesByOperator = std::unordered_map<std::string, std::vector<const AttributeRule*>>;

RulesByOperator rules_by_operator() {
  RulesByOperator rules;
  for (const AttributeRule& rule : attribute_rules()) {
    std::string_view names = rule.operators;
    while (!names.empty()) {
      const std::size_t end = std::min(names.find(' '), names.size());
      rules[std::string(names.substr(0, end))].push_back(&rule);
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return rules;
}

Result<void> apply(const AttributeRule& rule, const NodeFacts& facts) {
  if (facts.opset < rule.since || facts.opset > rule.until) return {};
  const bool is_attribute = rule.operand == AttributeRule::kAttribute;
  const auto value = is_attribute ? facts.attribute(rule.name) : facts.operand(static_cast<std::size_t>(rule.operand));
  if (!value) return {};
  std::string allowed = rule.check({*value, facts, rule});
  if (allowed.empty()) return {};
  const std::string where =
      describe(facts.node) + (is_attribute ? " attribute '" : " operand '") + std::string(rule.name) + "'";
  return fail(ExitCode::kBadInput, is_attribute ? "import/invalid-model" : "import/bad-operand", where, shown(*value),
              std::move(allowed));
}

class RuleWalk {
 public:
  explicit RuleWalk(const ImportLimits& limits) : limits_(limits), rules_(rules_by_operator()) {}

  Result<void> graph(const pb::GraphProto& message, const FactScope* outer, std::int64_t opset) const {
    const FactScope scope(message, outer);
    return nodes(message.node(), &scope, outer == nullptr, opset);
  }

  /// Bodies are as deep as the survey of the file allows.
  Result<void> nodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& all, const FactScope* scope,
                     bool knows_shapes, std::int64_t opset) const {
    for (const auto& node : all) {
      if (const auto found = rules_.find(rule_key(node)); found != rules_.end()) {
        const NodeFacts facts{
            .node = node, .opset = opset, .limits = limits_, .scope = scope, .knows_shapes = knows_shapes};
        for (const AttributeRule* rule : found->second) COLLAGE_TRY_VOID(apply(*rule, facts));
      }
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) COLLAGE_TRY_VOID(body(attribute.g(), scope, opset));
        for (const auto& one : attribute.graphs()) COLLAGE_TRY_VOID(body(one, scope, opset));
      }
    }
    return {};
  }

 private:
  Result<void> body(const pb::GraphProto& message, const FactScope* outer, std::int64_t opset) const {
    const FactScope scope(message, outer);
    return nodes(message.node(), &scope, false, opset);
  }

  const ImportLimits& limits_;
  RulesByOperator rules_;
};

std::int64_t default_opset(const auto& imports) {
  for (const auto& opset : imports)
    if (opset.domain().empty() || opset.domain() == "ai.onnx") return opset.version();
  return 0;
}

}  // namespace

Result<void> check_rules(const pb::ModelProto& model, const ImportLimits& limits) {
  const RuleWalk walk(limits);
  COLLAGE_TRY_VOID(walk.graph(model.graph(), nullptr, default_opset(model.opset_import())));
  for (const auto& function : model.functions())
    COLLAGE_TRY_VOID(walk.nodes(function.node(), nullptr, false, default_opset(function.opset_import())));
  return {};
}

}  // namespace collage
