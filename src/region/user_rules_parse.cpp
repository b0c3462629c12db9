// One statement a line: KEYWORD BACKEND [LABEL]: REST. A line that starts with '#' is a comment.
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/number_text.h"
#include "region/user_rules.h"

namespace collage {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kStatements =
    "\"pattern BACKEND LABEL: PATTERN\", \"fuse BACKEND LABEL: GLOB...\", \"limit BACKEND: nodes<=N, ...\" or "
    "\"ban BACKEND: OPERATOR|...\"";

/// Files of rules are written by hand; this bounds what a wrong path can cost.
constexpr std::size_t kMostBytes = 1 << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

/// Takes the part before `separator` off the front; all of it when there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// The words of a line; "..." keeps blanks together.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) {
    const bool is_quoted = text.front() == '"' && text.find('"', 1) != std::string_view::npos;
    if (is_quoted) text.remove_prefix(1);
    const std::size_t end = std::min(is_quoted ? text.find('"') : text.find_first_of(kBlanks), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
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
      const auto outputs = rest.starts_with("outputs<=") ? number(rest.substr(9)) : std::nullopt;
      if (!outputs) return bad(std::string(rest), "\"outputs<=N\" after the pattern");
      rule_.max_outputs = *outputs;
    }
    return rule_;
  }

  Result<UserRule> fuse() {
    rule_.kind = UserRule::Kind::kFuse;
    rule_.globs = words_of(rest_);
    return rule_;
  }

  Result<UserRule> limit() {
    rule_.kind = UserRule::Kind::kLimit;
    rule_.limits.allow_taps = true;
    for (std::string_view rest = rest_; !rest.empty();)
      if (const std::string_view one = take_until(rest, ','); !add_limit(one))
        return bad(std::string(one), "nodes<=N, depth<=N, outputs<=N, no taps or no bodies");
    return rule_;
  }

  bool add_limit(std::string_view one) {
    if (one == "no taps") {
      rule_.limits.allow_taps = false;
      return true;
    }
    if (one == "no bodies") {
      rule_.limits.allow_bodies = false;
      return true;
    }
    for (const auto& [name, most] : {std::pair{std::string_view("nodes<="), &rule_.limits.max_nodes},
                                     {std::string_view("depth<="), &rule_.limits.max_depth},
                                     {std::string_view("outputs<="), &rule_.limits.max_outputs}}) {
      if (!one.starts_with(name)) continue;
      const auto given = number(one.substr(name.size()));
      if (given) *most = *given;
      return given.has_value();
    }
    return false;
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

  /// A count of at least one.
  static std::optional<std::size_t> number(std::string_view text) {
    const auto value = number_in<std::size_t>(text);
    return value && *value > 0 ? value : std::nullopt;
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
