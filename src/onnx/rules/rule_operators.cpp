#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "onnx/rules/rule_checks.h"

namespace collage::rules {
namespace {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Axes of a term of an equation, such as "b...ij"; nothing for characters that are no axes.
struct EquationTerm {
  std::string letters;
  bool has_ellipsis = false;
};

std::optional<EquationTerm> term_in(std::string_view text) {
  EquationTerm term;
  while (!text.empty()) {
    if (text.starts_with("...") && !term.has_ellipsis) {
      term.has_ellipsis = true;
      text.remove_prefix(3);
      continue;
    }
    if (!std::isalpha(static_cast<unsigned char>(text.front()))) return std::nullopt;
    term.letters += text.front();
    text.remove_prefix(1);
  }
  return term;
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

/// One letter, one extent; broadcasting of 1 is allowed.
std::string extents_agree(const RuleQuestion& question, const std::vector<EquationTerm>& terms) {
  std::map<char, std::int64_t> known;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto extents = question.facts.extents(i);
    if (!extents) continue;
    const std::size_t letters = terms[i].letters.size();
    if (terms[i].has_ellipsis ? extents->size() < letters : extents->size() != letters)
      return std::to_string(extents->size()) + " axes for operand " + std::to_string(i);
    if (terms[i].has_ellipsis) continue;
    for (std::size_t k = 0; k < letters; ++k) {
      const std::int64_t extent = (*extents)[k];
      if (extent == kUnknownExtent || extent == 1) continue;
      const auto [seen, is_new] = known.emplace(terms[i].letters[k], extent);
      if (!is_new && seen->second != extent)
        return std::string("one extent for ") + terms[i].letters[k] + ", not " + std::to_string(seen->second) +
               " and " + std::to_string(extent);
    }
  }
  return {};
}

std::string output_term_allowed(const EquationTerm& output, const std::vector<EquationTerm>& terms) {
  std::set<char> seen;
  for (const char letter : output.letters) {
    if (!seen.insert(letter).second) return "each axis of the output once";
    const bool is_known = std::ranges::any_of(
        terms, [&](const EquationTerm& term) { return term.letters.find(letter) != std::string::npos; });
    if (!is_known) return "an output of axes that operands have";
  }
  return {};
}

std::string heads(const RuleQuestion& question, std::size_t operand) {
  if (std::string problem = non_negative(question); !problem.empty()) return problem;
  if (question.facts.rank(0) != 3 || question.value.ints.size() != 1) return {};
  if (question.value.ints.front() == 0) return "at least 1, as its inputs have three dimensions";
  const std::int64_t hidden = question.facts.extent(operand, 2);
  if (hidden != kUnknownExtent && hidden % question.value.ints.front() != 0)
    return "a divisor of " + std::to_string(hidden);
  return {};
}

std::string same_length(const RuleQuestion& question, const char* other) {
  const auto wanted = question.facts.attribute(other);
  if (!wanted || wanted->size() == question.value.size()) return {};
  return std::to_string(wanted->size()) + " entries, as " + other + " has";
}

}  // namespace

std::string activations(const RuleQuestion& question) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "relu",       "tanh",        "sigmoid", "affine",   "leakyrelu", "thresholdedrelu",
      "scaledtanh", "hardsigmoid", "elu",     "softsign", "softplus"};
  const std::string& op = question.facts.node.op_type();
  const auto direction = question.facts.attribute("direction");
  const bool is_both = direction && direction->words == std::vector<std::string>{"bidirectional"};
  const std::size_t count = (op == "LSTM" ? 3U : op == "GRU" ? 2U : 1U) * (is_both ? 2U : 1U);
  if (question.value.words.size() != count) return std::to_string(count) + " names";
  for (const std::string& word : question.value.words)
    if (std::ranges::find(kNames, lower_case(word)) == kNames.end())
      return "names of activations that ONNX lists for recurrent networks";
  return {};
}

std::string split_count(const RuleQuestion& question) {
  if (std::string problem = positive(question); !problem.empty()) return problem;
  const int made = question.facts.node.output_size();
  if (question.value.ints.size() == 1 && question.value.ints.front() != made)
    return std::to_string(made) + ", the number of its outputs";
  return {};
}

std::string split_sizes(const RuleQuestion& question) {
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  std::int64_t sum = 0;
  for (const std::int64_t one : question.value.ints) {
    if (one < 0 || one > kMost || sum > kMost) return "sizes of at least 0 that fit into the extent";
    sum += one;
  }
  const int made = question.facts.node.output_size();
  if (question.value.ints.size() != static_cast<std::size_t>(made))
    return std::to_string(made) + " sizes, one for each output";
  const std::int64_t extent = question.facts.extent(0, question.facts.integer("axis", 0));
  if (extent != kUnknownExtent && extent != sum) return "sizes that add up to " + std::to_string(extent);
  return {};
}

std::string equation(const RuleQuestion& question) {
  const std::string text = question.value.words.empty() ? "" : without_spaces(question.value.words.front());
  const std::size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  std::vector<EquationTerm> terms;
  for (bool more = true; more;) {
    const std::size_t end = left.find(',');
    const auto term = term_in(left.substr(0, end));
    if (!term) return "letters and one ... in each operand, separated by commas";
    terms.push_back(*term);
    more = end != std::string_view::npos;
    if (more) left.remove_prefix(end + 1);
  }
  const int operands = question.facts.node.input_size();
  if (terms.size() != static_cast<std::size_t>(operands)) return std::to_string(operands) + " operands";
  if (arrow != std::string::npos) {
    const auto output = term_in(std::string_view(text).substr(arrow + 2));
    if (!output) return "letters and one ... after ->";
    if (std::string problem = output_term_allowed(*output, terms); !problem.empty()) return problem;
  }
  return extents_agree(question, terms);
}

std::string head_count(const RuleQuestion& question) { return heads(question, 0); }
std::string key_head_count(const RuleQuestion& question) { return heads(question, 1); }

std::string quantised_block(const RuleQuestion& question) {
  if (std::string problem = non_negative(question); !problem.empty()) return problem;
  const std::int64_t block = question.value.ints.empty() ? 0 : question.value.ints.front();
  const std::int64_t axis = question.facts.integer("axis", 1);
  const std::int64_t extent = question.facts.extent(0, axis);
  const std::int64_t blocks = question.facts.extent(1, axis);
  if (block == 0 || extent == kUnknownExtent || blocks == kUnknownExtent) return {};
  if (extent / block + (extent % block != 0 ? 1 : 0) != blocks)
    return "blocks of " + std::to_string(extent) + " elements that are " + std::to_string(blocks) + " in number";
  return {};
}

std::string gram_length(const RuleQuestion& question) {
  if (std::string problem = positive(question); !problem.empty()) return problem;
  if (question.facts.integer("min_gram_length", 1) > question.facts.integer("max_gram_length", 1))
    return "min_gram_length of at most max_gram_length";
  return {};
}

std::string gram_starts(const RuleQuestion& question) {
  if (question.value.size() == 0) return "at least one start";
  std::size_t entries = 0;
  for (const char* name : {"pool_int64s", "pool_strings"})
    if (const auto pool = question.facts.attribute(name)) entries = std::max(entries, pool->size());
  std::int64_t last = 0;
  for (const std::int64_t one : question.value.ints) {
    if (one < last || one > static_cast<std::int64_t>(entries))
      return "rising starts of at most " + std::to_string(entries) + ", the size of the pool";
    last = one;
  }
  if (question.value.ints.front() != 0) return "a first start of 0";
  return {};
}

std::string gram_columns(const RuleQuestion& question) {
  if (std::string problem = non_negative(question); !problem.empty()) return problem;
  std::int64_t entries = 0;
  for (const char* name : {"pool_int64s", "pool_strings"})
    if (const auto pool = question.facts.attribute(name))
      entries = std::max(entries, static_cast<std::int64_t>(pool->size()));
  const auto starts = question.facts.ints("ngram_counts");
  std::int64_t grams = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : entries;
    if (end >= starts[i] && starts[i] >= 0) grams += (end - starts[i]) / static_cast<std::int64_t>(i + 1);
  }
  if (static_cast<std::int64_t>(question.value.size()) != grams)
    return std::to_string(grams) + " numbers, one for each n-gram of the pool";
  return {};
}

std::string tree_modes(const RuleQuestion& question) {
  if (std::string problem = one_of(question); !problem.empty()) return problem;
  return same_length(question, "nodes_nodeids");
}

std::string as_long_as_nodes(const RuleQuestion& question) {
  const bool has_numbers = question.rule.name != "nodes_values" && question.rule.name != "nodes_hitrates";
  const auto modes = question.facts.attribute("nodes_modes");
  for (std::size_t i = 0; has_numbers && i < question.value.ints.size(); ++i) {
    // Leaves have neither children nor a feature; some converters write -1 there.
    const bool is_leaf = modes && i < modes->words.size() && modes->words[i] == "LEAF";
    if (question.value.ints[i] < (is_leaf ? -1 : 0)) return "at least 0, or -1 for leaves";
  }
  return same_length(question, "nodes_nodeids");
}

std::string as_long_as_targets(const RuleQuestion& question) {
  const bool is_class = question.rule.name.starts_with("class");
  if (std::string problem = non_negative(question); !problem.empty()) return problem;
  return same_length(question, is_class ? "class_treeids" : "target_treeids");
}

}  // namespace collage::rules
