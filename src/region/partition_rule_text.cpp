// Prints rules.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "region/partition_rule.h"

namespace collage {
namespace {

std::string text_of(const GrowByClass& grow) { return fmt::format("{}->{}", name_of(grow.from), name_of(grow.to)); }
std::string text_of(const GrowOperands& grow) { return fmt::format("operands<={}", name_of(grow.most)); }
std::string text_of(const GrowParallel&) { return "parallel"; }

std::string text_of(const SinglesForm&) { return "singles"; }
std::string text_of(const ClassForm& form) { return fmt::format("class<={}", name_of(form.most)); }
std::string text_of(const OperatorForm& form) { return fmt::format("operators({})", fmt::join(form.operators, "|")); }
std::string text_of(const PredicateForm& form) {
  return form.accepts ? fmt::format("where({})", form.name) : form.name;
}
std::string text_of(const PatternRuleForm& form) {
  const std::string outputs = form.max_outputs == 1 ? "" : fmt::format("; outputs<={}", form.max_outputs);
  return fmt::format("pattern({}: {}{})", form.label, to_text(form.pattern), outputs);
}
std::string text_of(const NamedForm& form) {
  return fmt::format("named({}: {})", form.label, fmt::join(form.globs, " "));
}
std::string text_of(const MaximalForm& form) {
  return form.max_splits == 0 ? "maximal" : fmt::format("maximal(splits<={})", form.max_splits);
}
std::string text_of(const RangesForm& form) {
  return fmt::format("ranges(crossing<={}, at most {})", form.max_crossing, form.max_ranges);
}
std::string text_of(const UnionForm& form) {
  std::string text;
  for (const PartitionRule& rule : form.rules) text += (text.empty() ? "" : ", ") + to_text(rule);
  return "union(" + text + ")";
}
std::string text_of(const CombineForm& form) {
  std::string text = "combine(" + to_text(form.base) + ";";
  for (const GrowRule& grow : form.grow)
    text += std::visit([](const auto& one) { return " " + text_of(one); }, grow) + ",";
  if (text.back() == ',') text.pop_back();
  return form.max_depth == 0 ? text + ")" : fmt::format("{}; depth<={})", text, form.max_depth);
}
std::string text_of(const ValidForm& form) {
  return fmt::format("valid({}; {})", to_text(form.limits), to_text(form.base));
}
std::string text_of(const FollowForm& form) {
  return fmt::format("follow({}; nodes<={})", to_text(form.base), form.max_nodes);
}
std::string text_of(const LabelForm& form) { return fmt::format("label({}; {})", form.label, to_text(form.base)); }
std::string text_of(const RepeatForm& form) {
  return fmt::format("repeats({}{}{}; nodes<={})", to_text(form.base), form.operators.empty() ? "" : "; ",
                     fmt::join(form.operators, "|"), form.max_nodes);
}

}  // namespace

std::string to_text(const PartitionRule& rule) {
  return std::visit([](const auto& form) { return text_of(form); }, rule.form().is);
}

}  // namespace collage
