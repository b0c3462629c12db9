// Reading JSON without exceptions, and the JSON form of errors.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace collage {

using Json = nlohmann::json;

/// Text of one line. Bytes that are not UTF-8 (names in a hostile model) are replaced.
[[nodiscard]] std::string to_line(const Json& json);

/// Parses text. Error measure/malformed-json.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const std::string& where);

/// Runs a reader that may throw nlohmann's exceptions and turns them into error measure/malformed-json.
template <class Read>
[[nodiscard]] auto read_json(const std::string& where, Read&& read) -> Result<decltype(read())> {
  try {
    return read();
  } catch (const Json::exception& exception) {
    return fail(ExitCode::kBug, "measure/malformed-json", where, exception.what());
  }
}

[[nodiscard]] Json to_json(const Error& error);

/// Throws Json::exception on malformed input: call it inside read_json().
[[nodiscard]] Error error_from(const Json& json);

}  // namespace collage
