#include "base/json.h"

namespace collage {

std::string to_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Result<Json> parse_json(std::string_view text, const std::string& where) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
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
