// The rules that ONNX's specification places on attributes and constant operands, and that ONNX's checker and inference
// do not look at: numbers outside their domain, words outside a list, lists of another length than their operand needs.
// In:  a model, also one whose shapes are not inferred yet. Out: nothing, or the first rule that is broken.
// How: a table of rows (operators, attribute or operand, check); rule_table.cpp. A new rule is a row there.
// Source: Operators.md of ONNX; where it is silent on what a number may be, what ONNX Runtime 1.31.1 refuses to run.
// Not here: conditions on values that are known only when a model runs (ir/operand_conditions.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "onnx/rules/node_facts.h"

namespace collage {

struct AttributeRule;

/// What a check is asked: whether `value` is allowed.
struct RuleQuestion {
  const RuleValue& value;
  const NodeFacts& facts;
  const AttributeRule& rule;
};

/// What would be allowed, when the value is not; empty when it is, or when too little is known to say.
using RuleCheck = std::string (*)(const RuleQuestion& question);

struct AttributeRule {
  static constexpr int kAttribute = -1;

  std::string_view operators;  ///< one or several, separated by spaces; "ai.onnx.ml::Normalizer" of another domain
  std::string_view name;       ///< of the attribute; of an operand, for messages
  RuleCheck check;
  std::string_view words = {};  ///< what one_of allows, separated by spaces
  int operand = kAttribute;     ///< the position of a constant operand
  int since = 1;                ///< first opset at which the operand means this
  int until = 1'000'000;
};

/// All rules.
[[nodiscard]] std::span<const AttributeRule> attribute_rules();

/// Checks all nodes, those of bodies and functions included. Needs no shapes; knows more with them.
/// Errors: import/invalid-model for attributes, import/bad-operand for operands, import/limit.
[[nodiscard]] Result<void> check_rules(const pb::ModelProto& model, const ImportLimits& limits);

}  // namespace collage
