// Errors as answers of HTTP.
#pragma once

#include <string>

#include "base/error.h"
#include "serve/http_service.h"

namespace collage {

/// 400 for what the client sent wrong; 404, 405, 411, 413, 415, 429, 503, 504 for what has such a status; else
/// 500.
[[nodiscard]] int http_status_of(const Error& error);

/// {"error": "error[code]: where: saw ...; allowed ..."}; at most some kilobytes, always valid UTF-8.
[[nodiscard]] std::string error_body(const Error& error);

/// Both.
[[nodiscard]] ServiceAnswer error_answer(const Error& error);

}  // namespace collage
