// Reading JSON without exceptions, and the JSON form of errors.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json_numbers.h"

namespace collage {

using Json = nlohmann::json;

/// Text of one line. Bytes that are not UTF-8 (names in a hostile model) are replaced.
[[nodiscard]] std::string to_line(const Json& json);

/// Lists and objects inside of each other. Copying, comparing and writing JSON takes stack for each level.
inline constexpr std::size_t kDeepestJson = 256;

/// The value; discarded (Json::is_discarded()) when the text is malformed, or nested deeper than kDeepestJson.
[[nodiscard]] Json json_of(std::string_view text);

/// The same; throws std::runtime_error for such a text, where the caller catches exceptions.
[[nodiscard]] Json parsed_json(std::string_view text);

/// The same with an error: measure/malformed-json.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const std::string& where);

/// Thrown by readers of JSON (base/json_reading.h) where it does not have the promised form. Only read_json() catches
/// it.
struct JsonFault {
  std::string where;
  std::string saw;
};

/// Runs a reader that may throw JsonFault or nlohmann's exceptions; `refuse(where, saw)` makes an error of them.
template <class Read, class Refuse>
[[nodiscard]] auto read_json(Read&& read, Refuse&& refuse) -> Result<decltype(read())> {
  try {
    return read();
  } catch (const JsonFault& fault) {
    return refuse(fault.where, fault.saw);
  } catch (const Json::exception& exception) {
    return refuse(std::string(), std::string(exception.what()));
  }
}

/// The same for messages of our own: error measure/malformed-json.
template <class Read>
[[nodiscard]] auto read_json(const std::string& where, Read&& read) -> Result<decltype(read())> {
  return read_json(read, [&](const std::string&, std::string saw) {
    return fail(ExitCode::kBug, "measure/malformed-json", where, std::move(saw));
  });
}

[[nodiscard]] Json to_json(const Error& error);

/// Throws Json::exception on malformed input: call it inside read_json().
[[nodiscard]] Error error_from(const Json& json);

}  // namespace collage
