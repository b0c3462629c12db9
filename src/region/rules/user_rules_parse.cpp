// One statement a line: KEYWORD BACKEND [LABEL]: REST. A line that starts with '#' is a comment.
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "region/rules/rule_text.h"
#include "region/rules/user_rules.h"

namespace collage {
namespace {

constexpr std::string_view kStatements =
    "\"pattern BACKEND LABEL: PATTERN\", \"fuse BACKEND LABEL: GLOB...\", \"rule BACKEND: RULE\", "
    "\"replace BACKEND: RULE\", \"limit BACKEND: nodes<=N, ...\" or \"ban BACKEND: OPERATOR|...\"";

/// Files of rules are written by hand; this bounds what a wrong path can cost.
constexpr std::size_t kMostBytes = 1 << 20;

/// Takes the part before `separator` off the front; all of it when there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

class LineParser {
 public:
  LineParser(std::string_view line, std::string where) : line_(line) {
    rule_.where = std::move(where);
    rule_.text = line;
  }

  Result<UserRule> parse() {
    COLLAGE_TRY_VOID(split());
    const std::string keyword = head_.empty() ? "" : head_.front();
    const bool has_label = keyword == "pattern" || keyword == "fuse";
    if (head_.size() != (has_label ? 3U : 2U)) return bad(std::string(line_), std::string(kStatements));
    rule_.backend = head_[1];
    if (has_label) rule_.label = head_[2];
    if (keyword == "pattern") return pattern();
    if (keyword == "fuse") return fuse();
    if (keyword == "rule") return regions(UserRule::Kind::kRule);
    if (keyword == "replace") return regions(UserRule::Kind::kReplace);
    if (keyword == "limit") return limit();
    if (keyword == "ban") return ban();
    return bad(keyword, std::string(kStatements));
  }

 private:
  [[nodiscard]] std::unexpected<Error> bad(std::string saw, std::string allowed) const {
    return fail(ExitCode::kUsage, "region/bad-rule", rule_.where, std::move(saw), std::move(allowed));
  }

  /// Head and rest at the first colon before a blank: names of instances hold colons of their own.
  Result<void> split() {
    for (std::size_t at = line_.find(':'); at != std::string_view::npos; at = line_.find(':', at + 1)) {
      if (at + 1 < line_.size() && kBlanks.find(line_[at + 1]) == std::string_view::npos) continue;
      head_ = words_of(line_.substr(0, at));
      rest_ = trimmed(line_.substr(at + 1));
      if (rest_.empty()) break;
      return {};
    }
    return bad(std::string(line_), std::string(kStatements));
  }

  Result<UserRule> pattern() {
    rule_.kind = UserRule::Kind::kPattern;
    std::string_view rest = rest_;
    const std::string_view text = take_until(rest, ';');
    auto parsed = parse_pattern(text, rule_.where);
    if (!parsed) return bad(parsed.error().saw, parsed.error().allowed);
    rule_.pattern = std::move(*parsed);
    if (rest = trimmed(rest); !rest.empty()) {
      const auto outputs = count_after(rest, "outputs");
      if (!outputs) return bad(std::string(rest), "\"outputs<=N\" after the pattern");
      rule_.max_outputs = *outputs;
    }
    return rule_;
  }

  Result<UserRule> regions(UserRule::Kind kind) {
    rule_.kind = kind;
    COLLAGE_TRY(rule_.regions, parse_rule(rest_, rule_.where));
    return rule_;
  }

  Result<UserRule> fuse() {
    rule_.kind = UserRule::Kind::kFuse;
    rule_.globs = words_of(rest_);
    return rule_;
  }

  Result<UserRule> limit() {
    rule_.kind = UserRule::Kind::kLimit;
    const auto limits = parse_limits(rest_);
    if (!limits) return bad(limits.error(), kLimitNames);
    rule_.limits = *limits;
    return rule_;
  }

  Result<UserRule> ban() {
    rule_.kind = UserRule::Kind::kBan;
    for (std::string_view rest = rest_; !rest.empty();) {
      const std::string_view name = take_until(rest, '|');
      if (name.empty() || name.find_first_of(" \t,") != std::string_view::npos)
        return bad(std::string(rest_), "operators with | between them");
      rule_.operators.emplace_back(name);
    }
    return rule_;
  }

  std::string_view line_;
  std::vector<std::string> head_;
  std::string_view rest_;
  UserRule rule_;
};

}  // namespace

Result<UserRules> parse_user_rules(std::string_view text, const std::string& file) {
  UserRules rules;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_until(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    COLLAGE_TRY(UserRule rule, LineParser(line, fmt::format("{}:{}", file, number)).parse());
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<UserRules> read_user_rules(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  text.resize(kMostBytes + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad())
    return fail(ExitCode::kIo, "region/cannot-read", path, "a file that cannot be read", "a text file of rules");
  if (text.size() > kMostBytes)
    return fail(ExitCode::kUsage, "region/bad-rule", path, "more than a mebibyte", "a text file of rules");
  return parse_user_rules(text, path);
}

}  // namespace collage
