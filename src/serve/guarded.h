// What libraries throw becomes an error: neither a request nor a plan may end the server.
// In:  work that returns a Result, and what errors say of it. Out: its Result; an error for what it throws.
// Cost: nothing unless it throws.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/error.h"

namespace collage {

[[nodiscard]] inline std::unexpected<Error> no_memory(std::string_view where, std::string_view allowed,
                                                      std::string_view code = "memory/exhausted") {
  return fail(ExitCode::kLimit, std::string(code), std::string(where), "no memory left", std::string(allowed));
}

/// Errors of `work`; no_memory(where, allowed, memory_code); serve/exception.
template <class Work>
[[nodiscard]] auto guarded(std::string_view where, std::string_view allowed, Work&& work,
                           std::string_view memory_code = "memory/exhausted") -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return no_memory(where, allowed, memory_code);
  } catch (const std::exception& exception) {
    return fail(ExitCode::kBug, "serve/exception", std::string(where), exception.what());
  } catch (...) {
    return fail(ExitCode::kBug, "serve/exception", std::string(where), "an exception of unknown type");
  }
}

}  // namespace collage
