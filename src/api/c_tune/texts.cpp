#include "api/c_tune/texts.h"

#include <cmath>

#include <fmt/format.h>

namespace collage::c_api {

Result<std::vector<std::string>> texts_of(const collage_texts& given, const std::string& name) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < given.count; ++i) {
    if (given.items == nullptr || given.items[i] == nullptr)
      return fail(ExitCode::kUsage, "api/null-argument", fmt::format("{}[{}]", name, i), "a null pointer",
                  "a pointer to something");
    texts.emplace_back(given.items[i]);
  }
  return texts;
}

OptionLabel option_label(const std::string& name) { return {.code = "api/wrong-option", .name = name}; }

Result<int> count_of(std::int64_t given, int otherwise, int most, const std::string& name) {
  if (given == 0) return otherwise;
  if (given > 0 && given <= most) return static_cast<int>(given);
  return bad_option(option_label(name), fmt::format("{}", given), fmt::format("0 to {}", most));
}

Result<double> seconds_of(double given, double otherwise, const std::string& name) {
  if (given == 0) return otherwise;
  if (std::isfinite(given) && given > 0) return given;
  return bad_option(option_label(name), fmt::format("{}", given), "seconds, not below 0");
}

Result<std::string> path_of(const char* given, const std::string& name) {
  if (given != nullptr && *given != '\0') return std::string(given);
  return fail(ExitCode::kUsage, "api/null-argument", name, given == nullptr ? "a null pointer" : "an empty text",
              "a path");
}

}  // namespace collage::c_api
