#include "cli/colour.h"

#include <unistd.h>

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

namespace collage::cli {
namespace {

constexpr std::string_view kInterval = "x [";

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The number at the beginning of the text, which loses it.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(wanted.size());
  return true;
}

bool is_of_number(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; }

/// A ratio with its interval in a report.
struct Ratio {
  std::size_t begin = 0;
  std::size_t end = 0;
  double low = 0;
  double high = 0;
};

/// The one around the `kInterval` at a position, if one is there.
std::optional<Ratio> ratio_around(std::string_view report, std::size_t at) {
  Ratio ratio{.begin = at};
  while (ratio.begin > 0 && is_of_number(report[ratio.begin - 1])) --ratio.begin;
  std::string_view rest = report.substr(at + kInterval.size());
  const auto low = take_number(rest);
  if (ratio.begin == at || !low || !take(rest, ", ")) return std::nullopt;
  const auto high = take_number(rest);
  if (!high || !take(rest, "]")) return std::nullopt;
  ratio.end = report.size() - rest.size();
  ratio.low = *low;
  ratio.high = *high;
  return ratio;
}

}  // namespace

bool shows_colours(int descriptor) {
  return ::isatty(descriptor) == 1 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

std::string coloured(std::string_view text, Colour colour) {
  const int code = colour == Colour::kGood ? 32 : colour == Colour::kBad ? 31 : 36;
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string with_coloured_ratios(std::string_view report) {
  std::string text;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = report.find(kInterval, at)) != std::string_view::npos; at += kInterval.size()) {
    const std::optional<Ratio> ratio = ratio_around(report, at);
    if (!ratio || (ratio->low <= 1 && ratio->high >= 1)) continue;
    text += report.substr(done, ratio->begin - done);
    text +=
        coloured(report.substr(ratio->begin, ratio->end - ratio->begin), ratio->low > 1 ? Colour::kGood : Colour::kBad);
    done = ratio->end;
  }
  return text.append(report.substr(done));
}

}  // namespace collage::cli
