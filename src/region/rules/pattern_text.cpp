// Prints patterns in the spelling that pattern_parse.cpp reads.
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "region/rules/pattern.h"

namespace collage {
namespace {

std::string subject_text(const PatternSubject& subject) {
  if (subject.kind == PatternSubject::Kind::kAttribute) return "@" + subject.attribute;
  std::string text;
  if (subject.is_input || subject.port != 0) text = fmt::format("{}{}.", subject.is_input ? "in" : "out", subject.port);
  switch (subject.kind) {
    case PatternSubject::Kind::kType:
      return text + "type";
    case PatternSubject::Kind::kRank:
      return text + "rank";
    case PatternSubject::Kind::kSize:
      return text + "size";
    default:
      return fmt::format("{}dim{}", text, subject.axis);
  }
}

std::string condition_text(const PatternCondition& condition) {
  constexpr std::array<std::string_view, 7> kSigns = {"=", "!=", "<=", ">=", "<", ">", "?="};
  return fmt::format(
      "{}{}{}", subject_text(condition.subject), kSigns.at(static_cast<std::size_t>(condition.comparison)),
      condition.other ? subject_text(*condition.other) : fmt::format("{}", fmt::join(condition.literals, "|")));
}

std::string step_text(const PatternStep& step) {
  std::string text = fmt::format("{}", fmt::join(step.operators, "|"));
  for (std::size_t i = 0; i < step.conditions.size(); ++i)
    text += (i == 0 ? "{" : ", ") + condition_text(step.conditions[i]);
  if (!step.conditions.empty()) text += "}";
  if (step.mark == PatternMark::kOptional) text += "?";
  if (step.mark == PatternMark::kRepeated) text += "*";
  return text;
}

std::string term_text(const PatternTerm& term) {
  using Kind = PatternTerm::Kind;
  if (term.kind == Kind::kShared) return "$" + term.name;
  std::string text = term.name.empty() ? "" : term.name + "=";
  if (term.kind != Kind::kOperator)
    return text + (term.kind == Kind::kAny ? "*" : "const") + (term.may_be_absent ? "?" : "");
  text += step_text(term.step);
  if (!term.has_operands) return text;
  for (std::size_t i = 0; i < term.operands.size(); ++i) text += (i == 0 ? "(" : ", ") + term_text(term.operands[i]);
  return text + (term.takes_more ? ", ...)" : ")");
}

}  // namespace

std::string to_text(const PatternForm& form) {
  std::string text = form.tree ? term_text(*form.tree) : "";
  for (const PatternStep& step : form.chain) text += (text.empty() ? "" : " -> ") + step_text(step);
  return text;
}

}  // namespace collage
