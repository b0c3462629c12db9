// JSON as it is spoken between supervisor and worker and kept in the store: the forms of this folder's values.
// Reading is strict about what it needs and never throws: a malformed object is error measure/malformed-json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "measure/cost.h"

namespace collage {

using Json = nlohmann::json;

/// Text of one line; bytes that are not UTF-8 (names in hostile models) are replaced instead of thrown at.
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
[[nodiscard]] Json to_json(const Refusal& refusal);
[[nodiscard]] Json to_json(const Cost& cost);
[[nodiscard]] Json to_json(const Variant& variant);

// Readers; these throw Json::exception on malformed input, so call them inside read_json.
[[nodiscard]] Error error_from(const Json& json);
[[nodiscard]] Refusal refusal_from(const Json& json);
[[nodiscard]] Cost cost_from(const Json& json);
[[nodiscard]] Variant variant_from(const Json& json);

}  // namespace collage
