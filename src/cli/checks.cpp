#include "cli/checks.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/suggest.h"
#include "numbers/output_bound.h"

namespace collage::cli {
namespace {

std::string refused(const std::string& text, const std::string& allowed) {
  return fmt::format("saw '{}'; allowed {}", text, allowed);
}

}  // namespace

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  const bool has_end = high != std::numeric_limits<std::uint64_t>::max();
  const std::string allowed = has_end   ? fmt::format("a whole number from {} to {}", low, high)
                              : low > 0 ? fmt::format("a whole number, {} or more", low)
                                        : "a whole number, not below 0";
  return {[low, high, allowed](std::string& text) {
            const auto value = number_in<std::uint64_t>(text);
            return value && *value >= low && *value <= high ? std::string() : refused(text, allowed);
          },
          ""};
}

CLI::Validator positive_number(bool may_be_zero) {
  return {[may_be_zero](std::string& text) {
            const auto value = number_in<double>(text);
            const bool fits = value && std::isfinite(*value) && (*value > 0 || (may_be_zero && *value == 0));
            return fits ? std::string() : refused(text, may_be_zero ? "a number, not below 0" : "a number above 0");
          },
          ""};
}

CLI::Validator memory_size() {
  return {[](std::string& text) {
            std::string bytes = text;
            std::string fault;
            try {
              fault = CLI::AsSizeValue(false)(bytes);
            } catch (const CLI::Error& error) {
              fault = error.what();
            }
            const auto count = number_in<std::int64_t>(bytes);
            if (!fault.empty() || !count || *count <= 0) return refused(text, "bytes above 0, such as 64MB");
            text = bytes;
            return std::string();
          },
          ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  return {[words = std::move(words)](std::string& text) {
            if (std::ranges::find(words, text) != words.end()) return std::string();
            return fmt::format("saw '{}'{}; allowed {}", text, did_you_mean(text, words), listed(words));
          },
          ""};
}

CLI::Validator accuracy_text() {
  return {[](std::string& text) {
            const std::vector<std::string> classes = {"strict", "standard", "fast"};
            if (output_bound_of(text)) return std::string();
            return fmt::format("saw '{}'{}; allowed {}", text, did_you_mean(text, classes), kOutputBoundForms);
          },
          ""};
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

}  // namespace collage::cli
