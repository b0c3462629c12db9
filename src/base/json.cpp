#include "base/json.h"

#include <stdexcept>

namespace collage {
namespace {

bool is_nested_too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool is_in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (is_in_text) {
      if (letter == '\\') ++i;
      is_in_text = letter != '"';
    } else if (letter == '"') {
      is_in_text = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > kDeepestJson) return true;
    } else if ((letter == ']' || letter == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

std::string to_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(std::string_view text) {
  if (is_nested_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

Json parsed_json(std::string_view text) {
  Json json = json_of(text);
  if (json.is_discarded()) throw std::runtime_error("no JSON");
  return json;
}

Result<Json> parse_json(std::string_view text, const std::string& where) {
  Json json = json_of(text);
  if (json.is_discarded())
    return fail(ExitCode::kBug, "measure/malformed-json", where, std::string(text.substr(0, 80)), "JSON");
  return json;
}

Json to_json(const Error& error) {
  return {{"code", error.code},
          {"where", error.where},
          {"saw", error.saw},
          {"allowed", error.allowed},
          {"exit", static_cast<int>(error.exit)}};
}

Error error_from(const Json& json) {
  return {.code = json.at("code").get<std::string>(),
          .where = json.at("where").get<std::string>(),
          .saw = json.at("saw").get<std::string>(),
          .allowed = json.at("allowed").get<std::string>(),
          .exit = static_cast<ExitCode>(json.at("exit").get<int>())};
}

}  // namespace collage
