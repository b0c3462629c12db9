// A cursor over the text and one function per line of the grammar in pattern.h.
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "ir/type.h"
#include "region/pattern.h"

namespace collage {
namespace {

/// Deeper nesting than anyone writes by hand: a bound on the recursion for hostile files.
constexpr int kMaxDepth = 64;

constexpr std::array<std::pair<std::string_view, PatternComparison>, 7> kComparisons = {
    {{"?=", PatternComparison::kEqualOrAbsent},
     {"!=", PatternComparison::kNot},
     {"<=", PatternComparison::kAtMost},
     {">=", PatternComparison::kAtLeast},
     {"=", PatternComparison::kEqual},
     {"<", PatternComparison::kLess},
     {">", PatternComparison::kMore}}};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == ':' || c == '-' || c == '+';
}

/// "in0" or "out1".
bool read_port(std::string_view text, PatternSubject& subject) {
  for (const auto& [word, is_input] : {std::pair{std::string_view("in"), true}, {std::string_view("out"), false}}) {
    if (!text.starts_with(word)) continue;
    const auto port = number_in<std::size_t>(text.substr(word.size()));
    if (!port) continue;
    subject.is_input = is_input;
    subject.port = *port;
    return true;
  }
  return false;
}

/// The subject that a whole word spells; nothing when it is something else.
std::optional<PatternSubject> subject_of(std::string_view word) {
  PatternSubject subject;
  if (const std::size_t dot = word.find('.'); dot != std::string_view::npos) {
    if (!read_port(word.substr(0, dot), subject)) return std::nullopt;
    word.remove_prefix(dot + 1);
  }
  if (word == "type")
    subject.kind = PatternSubject::Kind::kType;
  else if (word == "rank")
    subject.kind = PatternSubject::Kind::kRank;
  else if (word == "size")
    subject.kind = PatternSubject::Kind::kSize;
  else if (const auto axis = word.starts_with("dim") ? number_in<std::size_t>(word.substr(3)) : std::nullopt) {
    subject.kind = PatternSubject::Kind::kDim;
    subject.axis = *axis;
  } else {
    return std::nullopt;
  }
  return subject;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Result<PatternForm> pattern() {
    PatternForm form;
    COLLAGE_TRY(PatternTerm first, operators(0));
    if (first.has_operands) {
      const PatternTerm& below = first.operands.empty() ? first : first.operands.front();
      if (first.step.mark != PatternMark::kOnce && below.kind != PatternTerm::Kind::kOperator)
        return expected("a tree whose optional root stands on an operator");
      form.tree = std::move(first);
    } else {
      form.chain.push_back(std::move(first.step));
    }
    while (take("->")) {
      COLLAGE_TRY(PatternTerm next, operators(0));
      if (next.has_operands) return expected("a step without operands after ->");
      form.chain.push_back(std::move(next.step));
    }
    skip_blanks();
    if (at_ != text_.size()) return expected("-> or the end");
    return form;
  }

 private:
  [[nodiscard]] std::unexpected<Error> expected(std::string allowed) const {
    const std::string_view rest = text_.substr(at_, 24);
    return fail(ExitCode::kBadInput, "region/bad-pattern", where_,
                fmt::format("\"{}\" at column {}", rest.empty() ? "the end" : rest, at_ + 1), std::move(allowed));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  /// The longest run of name characters; "->" ends it.
  std::string_view word() {
    skip_blanks();
    const std::size_t from = at_;
    while (at_ < text_.size() && is_name_character(text_[at_]) && !text_.substr(at_).starts_with("->")) ++at_;
    return text_.substr(from, at_ - from);
  }

  Result<PatternTerm> operators(int depth) {
    PatternTerm term{.kind = PatternTerm::Kind::kOperator};
    do {
      const std::string_view name = word();
      if (name.empty() || name.starts_with("...")) return expected("an operator's name");
      term.step.operators.emplace_back(name);
    } while (take("|"));
    if (take("{")) COLLAGE_TRY_VOID(conditions(term.step.conditions));
    if (take("?"))
      term.step.mark = PatternMark::kOptional;
    else if (take("*"))
      term.step.mark = PatternMark::kRepeated;
    if (take("(")) COLLAGE_TRY_VOID(operands(term, depth));
    return term;
  }

  Result<void> operands(PatternTerm& term, int depth) {
    if (depth == kMaxDepth) return expected("less nesting");
    term.has_operands = true;
    do {
      if (take("...")) {
        term.takes_more = true;
        break;
      }
      COLLAGE_TRY(PatternTerm one, operand(depth + 1));
      term.operands.push_back(std::move(one));
    } while (take(","));
    if (!take(")")) return expected("\",\" or \")\"");
    if (term.operands.empty()) return expected("an operand");
    return {};
  }

  Result<PatternTerm> operand(int depth) {
    const std::size_t from = at_;
    std::string name(word());
    skip_blanks();
    if (name.empty() || !take("=")) {
      at_ = from;
      name.clear();
    }
    COLLAGE_TRY(PatternTerm term, unnamed_operand(depth));
    if (!name.empty()) {
      if (term.kind == PatternTerm::Kind::kShared) return expected("an operator, * or const after a name");
      term.name = std::move(name);
    }
    return term;
  }

  Result<PatternTerm> unnamed_operand(int depth) {
    PatternTerm term;
    if (take("*")) {
      term.may_be_absent = take("?");
      return term;
    }
    if (take("$")) {
      term.kind = PatternTerm::Kind::kShared;
      term.name = word();
      if (term.name.empty()) return expected("the name of a value");
      return term;
    }
    COLLAGE_TRY(term, operators(depth));
    if (term.step.operators != std::vector<std::string>{"const"}) return term;
    if (term.has_operands || !term.step.conditions.empty()) return expected("const on its own");
    return PatternTerm{.kind = PatternTerm::Kind::kConstant, .may_be_absent = term.step.mark == PatternMark::kOptional};
  }

  Result<void> conditions(std::vector<PatternCondition>& list) {
    do {
      COLLAGE_TRY(PatternCondition one, condition());
      list.push_back(std::move(one));
    } while (take(","));
    if (!take("}")) return expected("\",\" or \"}\"");
    return {};
  }

  Result<PatternCondition> condition() {
    PatternCondition condition;
    COLLAGE_TRY(condition.subject, subject());
    bool known = false;
    for (const auto& [spelling, comparison] : kComparisons) {
      if (!take(spelling)) continue;
      condition.comparison = comparison;
      known = true;
      break;
    }
    if (!known) return expected("=, !=, <=, >=, <, > or ?=");
    do {
      const std::string_view literal = word();
      if (literal.empty()) return expected("a value");
      condition.literals.emplace_back(literal);
    } while (take("|"));
    if (condition.literals.size() == 1) condition.other = subject_of(condition.literals.front());
    if (condition.other) condition.literals.clear();
    if (condition.subject.kind == PatternSubject::Kind::kType)
      for (const std::string& literal : condition.literals)
        if (!element_type_of(literal)) return expected("an element type such as f32 in place of " + literal);
    return condition;
  }

  Result<PatternSubject> subject() {
    if (take("@")) {
      PatternSubject subject{.kind = PatternSubject::Kind::kAttribute, .attribute = std::string(word())};
      if (subject.attribute.empty()) return expected("an attribute's name");
      return subject;
    }
    const std::size_t from = at_;
    if (const auto found = subject_of(word())) return *found;
    at_ = from;
    return expected("@attribute, type, rank, size or dim0, with in0. or out0. before it");
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

}  // namespace

Result<PatternForm> parse_pattern(std::string_view text, const std::string& where) {
  return Parser(text, where).pattern();
}

}  // namespace collage
