#include "tune/report/rule_operators.h"

#include <algorithm>

#include "base/suggest.h"
#include "onnx/operator_names.h"

namespace collage {
namespace {

void add_operators(const PatternTerm& term, std::vector<std::string>& names) {
  names.insert(names.end(), term.step.operators.begin(), term.step.operators.end());
  for (const PatternTerm& operand : term.operands) add_operators(operand, names);
}

std::vector<std::string> operators_of(const UserRule& rule) {
  std::vector<std::string> names = rule.operators;
  if (rule.pattern.tree) add_operators(*rule.pattern.tree, names);
  for (const PatternStep& step : rule.pattern.chain)
    names.insert(names.end(), step.operators.begin(), step.operators.end());
  return names;
}

bool is_vendors(const std::string& name) {
  const std::size_t colons = name.find("::");
  return colons != std::string::npos && !is_onnx_domain(std::string_view(name).substr(0, colons));
}

}  // namespace

Result<void> check_rule_operators(const UserRules& rules) {
  const std::vector<std::string> known = operator_names();
  for (const UserRule& rule : rules)
    for (const std::string& name : operators_of(rule))
      if (!is_vendors(name) && !std::ranges::binary_search(known, name))
        return fail(ExitCode::kUsage, "region/bad-rule", rule.where, "operator " + name + did_you_mean(name, known),
                    "an operator of ONNX, or DOMAIN::OPERATOR of a vendor");
  return {};
}

}  // namespace collage
