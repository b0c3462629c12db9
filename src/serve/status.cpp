#include "serve/status.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json.h"
#include "base/shorten.h"

namespace collage {
namespace {

struct CodeStatus {
  std::string_view code;
  int status;
};

constexpr std::array<CodeStatus, 15> kStatuses = {{{"serve/not-found", 404},
                                                   {"serve/unknown-model", 404},
                                                   {"serve/unknown-version", 404},
                                                   {"serve/wrong-method", 405},
                                                   {"serve/no-length", 411},
                                                   {"serve/body-too-large", 413},
                                                   {"serve/wrong-encoding", 415},
                                                   {"serve/queue-full", 429},
                                                   {"serve/closing", 503},
                                                   {"serve/not-loaded", 503},
                                                   {"serve/busy", 503},
                                                   {"runtime/out-of-memory", 503},
                                                   {"memory/exhausted", 503},
                                                   {"serve/deadline", 504},
                                                   {"session/deadline", 504}}};

/// Texts of a request come back in messages: each is cut to this.
constexpr std::size_t kMostText = 1000;

}  // namespace

int http_status_of(const Error& error) {
  const auto* const found = std::ranges::find(kStatuses, error.code, &CodeStatus::code);
  if (found != kStatuses.end()) return found->status;
  return error.exit == ExitCode::kBadInput || error.exit == ExitCode::kUsage ? 400 : 500;
}

std::string error_body(const Error& error) {
  return to_line({{"error", to_string(Error{.code = error.code,
                                            .where = shortened(error.where, kMostText),
                                            .saw = shortened(error.saw, kMostText),
                                            .allowed = shortened(error.allowed, kMostText),
                                            .exit = error.exit})}});
}

ServiceAnswer error_answer(const Error& error) {
  return {.status = http_status_of(error), .type = "application/json", .text = error_body(error), .binary = {}};
}

}  // namespace collage
