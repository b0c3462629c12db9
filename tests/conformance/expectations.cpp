#include "tests/conformance/expectations.h"

#include <algorithm>

namespace collage::conformance {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

bool is_cut(char c) { return c == '_' || c == '-' || c == '+' || c == '/'; }

/// Beginnings of a name after which a pattern may go on with '*', shortest first; all are of the name's family.
std::vector<std::string> beginnings(const std::string& name) {
  const std::string family = family_of(name);
  std::vector<std::string> found;
  for (std::size_t i = 1; i < name.size(); ++i) {
    // The family's own part is never cut: "conv/*" is a pattern, "conv*" is not.
    if (i > 1 && name[i - 1] == '/') found.push_back(name.substr(0, i));
    if (is_cut(name[i]) && name[i] != '/') found.push_back(name.substr(0, i));
  }
  found.push_back(name);
  std::erase_if(found, [&](const std::string& part) { return family_of(part) != family || part == "test"; });
  return found;
}

/// All cases that begin so were refused for this reason.
bool agree(const Outcomes& outcomes, const std::string& beginning, const std::string& reason) {
  for (auto at = outcomes.lower_bound(beginning); at != outcomes.end() && at->first.starts_with(beginning); ++at)
    if (at->second.kind != Outcome::Kind::kRefused || at->second.reason != reason) return false;
  return true;
}

std::size_t count_of(const Outcomes& outcomes, const std::string& beginning) {
  std::size_t count = 0;
  for (auto at = outcomes.lower_bound(beginning); at != outcomes.end() && at->first.starts_with(beginning); ++at)
    ++count;
  return count;
}

void judge_case(const std::vector<Expectation>& lines, const std::string& name, const Outcome& outcome,
                std::vector<std::string>& found) {
  if (outcome.kind == Outcome::Kind::kFailed) found.push_back(name + ' ' + to_text(outcome));
  bool is_listed = false;
  for (const Expectation& line : lines) {
    if (!matches(line.pattern, name)) continue;
    is_listed = true;
    if (outcome.kind != Outcome::Kind::kRefused || outcome.reason != line.reason)
      found.push_back(name + ' ' + to_text(outcome) + ", but '" + line.pattern + ": " + line.reason + "' is listed");
  }
  if (!is_listed && outcome.kind == Outcome::Kind::kRefused)
    found.push_back(name + ' ' + to_text(outcome) + ", which is not listed");
}

}  // namespace

std::string to_text(const Outcome& outcome) {
  const std::string detail = outcome.detail.empty() ? "" : " (" + outcome.detail + ")";
  if (outcome.kind == Outcome::Kind::kPass) return "passed";
  return (outcome.kind == Outcome::Kind::kRefused ? "was refused: " + outcome.reason : "failed") + detail;
}

std::string family_of(const std::string& name) {
  if (!name.starts_with("test_")) return name.substr(0, name.find('/'));
  const char letter = name.size() > 5 ? name[5] : 'a';
  for (const std::string& family : official_families())
    if (letter <= family.back()) return family;
  return official_families().back();
}

const std::vector<std::string>& official_families() {
  static const std::vector<std::string> kFamilies = {"official_a",   "official_b_c", "official_d_g", "official_h_l",
                                                     "official_m_q", "official_r",   "official_s",   "official_t_z"};
  return kFamilies;
}

bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t from = star; from <= name.size(); ++from)
    if (matches(rest, name.substr(from))) return true;
  return false;
}

Result<std::vector<Expectation>> parse_expectations(std::string_view text) {
  std::vector<Expectation> found;
  for (const std::string_view raw : lines_of(text)) {
    const std::string_view line = trimmed(raw.substr(0, raw.find('#')));
    if (line.empty()) continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos)
      return fail(ExitCode::kBadInput, "conformance/malformed", "expectations", std::string(line), "PATTERN: REASON");
    found.push_back({.pattern = std::string(trimmed(line.substr(0, colon))),
                     .reason = std::string(trimmed(line.substr(colon + 2)))});
  }
  return found;
}

std::vector<Expectation> of_family(const std::vector<Expectation>& all, std::string_view family) {
  std::vector<Expectation> found;
  for (const Expectation& line : all)
    if (family_of(line.pattern) == family) found.push_back(line);
  return found;
}

std::vector<std::string> problems(const std::vector<Expectation>& lines, const Outcomes& outcomes,
                                  const std::vector<std::string>& skipped) {
  std::vector<std::string> found;
  for (const auto& [name, outcome] : outcomes) judge_case(lines, name, outcome, found);
  for (const Expectation& line : lines)
    if (std::none_of(outcomes.begin(), outcomes.end(), [&](const auto& o) { return matches(line.pattern, o.first); }) &&
        std::none_of(skipped.begin(), skipped.end(), [&](const auto& name) { return matches(line.pattern, name); }))
      found.push_back("'" + line.pattern + ": " + line.reason + "' is listed and matches no case");
  return found;
}

std::vector<Expectation> summarised(const Outcomes& outcomes) {
  std::vector<Expectation> lines;
  for (const auto& [name, outcome] : outcomes) {
    if (outcome.kind != Outcome::Kind::kRefused) continue;
    if (!lines.empty() && matches(lines.back().pattern, name)) continue;
    std::string pattern = name;
    for (const std::string& beginning : beginnings(name)) {
      if (count_of(outcomes, beginning) < 2 || !agree(outcomes, beginning, outcome.reason)) continue;
      pattern = beginning + '*';
      break;
    }
    lines.push_back({.pattern = std::move(pattern), .reason = outcome.reason});
  }
  return lines;
}

Result<std::string> updated(std::string_view text, std::string_view family, const std::vector<Expectation>& lines) {
  COLLAGE_TRY(std::vector<Expectation> all, parse_expectations(text));
  std::erase_if(all, [&](const Expectation& line) { return family_of(line.pattern) == family; });
  all.insert(all.end(), lines.begin(), lines.end());
  std::sort(all.begin(), all.end(), [](const Expectation& a, const Expectation& b) {
    const bool a_official = a.pattern.starts_with("test_");
    const bool b_official = b.pattern.starts_with("test_");
    return a_official != b_official ? b_official : a.pattern < b.pattern;
  });
  std::string result;
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with('#')) break;
    result += std::string(line) + '\n';
  }
  for (const Expectation& line : all) result += line.pattern + ": " + line.reason + '\n';
  return result;
}

}  // namespace collage::conformance
