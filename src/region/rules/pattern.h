// The pattern language: one line of text says which operators, joined how, a backend fuses.
// In: the line. Out: a form that can be matched (pattern_match.h) and printed.
//
//   pattern   = [tree] step { "->" step }       each later step reads a value of what is matched so far
//   step      = names [conditions] ["?" | "*"]  "?" may be left out, "*" any number of times
//   tree      = names [conditions] [mark] "(" operand {"," operand} ["," "..."] ")"
//   operand   = [NAME "="] ( "*" | "const" | "$" NAME | tree | names [conditions] [mark] ) ["?"]
//   names     = OPERATOR {"|" OPERATOR}         "Conv|ConvTranspose", "com.microsoft::FusedConv"
//   conditions = "{" condition {"," condition} "}"
//   condition = subject ("=" | "!=" | "<=" | ">=" | "<" | ">" | "?=") (literal {"|" literal} | subject)
//   subject   = "@" ATTRIBUTE | ["in" N "." | "out" N "."] ("type" | "rank" | "size" | "dim" N)
//
// "*" as an operand is any value, "const" a constant, "$a" the value called a; either with "?" may be absent. A marked
// operator in a tree precedes its first operand: "Relu?(Conv)" is Relu(Conv) or Conv, "Relu*(Conv)" any number of
// Relus on a Conv. Operators without operands written take any. A tree's operands must be all that the node has unless
// "..." follows; those of commutative operators match in any order. "?=" also holds where the subject is absent: an
// attribute left at its default. A subject without a port refers to output 0.
// Source: chains of oneDNN's and DFPattern trees of TVM's partitioning tables, in one line.
// Cost: linear in the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace collage {

/// The subject of a condition.
struct PatternSubject {
  enum class Kind : std::uint8_t { kAttribute, kType, kRank, kSize, kDim };
  Kind kind = Kind::kRank;
  std::string attribute;
  bool is_input = false;
  std::size_t port = 0;
  std::size_t axis = 0;
  bool operator==(const PatternSubject&) const = default;
};

enum class PatternComparison : std::uint8_t { kEqual, kNot, kAtMost, kAtLeast, kLess, kMore, kEqualOrAbsent };

struct PatternCondition {
  PatternSubject subject;
  PatternComparison comparison = PatternComparison::kEqual;
  std::vector<std::string> literals;  ///< alternatives; empty when `other` is there
  std::optional<PatternSubject> other;
  bool operator==(const PatternCondition&) const = default;
};

enum class PatternMark : std::uint8_t { kOnce, kOptional, kRepeated };

struct PatternStep {
  std::vector<std::string> operators;
  std::vector<PatternCondition> conditions;
  PatternMark mark = PatternMark::kOnce;
  bool operator==(const PatternStep&) const = default;
};

struct PatternTerm {
  enum class Kind : std::uint8_t { kAny, kConstant, kShared, kOperator };
  Kind kind = Kind::kAny;
  std::string name;  ///< of the shared value: given by "name=", asked for by kShared
  PatternStep step;  ///< of kOperator
  std::vector<PatternTerm> operands;
  bool has_operands = false;  ///< operands were written
  bool takes_more = false;    ///< "..." ends the operands
  bool may_be_absent = false;
  bool operator==(const PatternTerm&) const = default;
};

struct PatternForm {
  std::optional<PatternTerm> tree;
  std::vector<PatternStep> chain;  ///< after the tree, or on its own
  bool operator==(const PatternForm&) const = default;
};

/// Error region/bad-pattern at `where`: what was seen at which column, what is allowed there.
[[nodiscard]] Result<PatternForm> parse_pattern(std::string_view text, const std::string& where = "pattern");
/// The pattern in its canonical spelling; parses back to the same form.
[[nodiscard]] std::string to_text(const PatternForm& form);

}  // namespace collage
