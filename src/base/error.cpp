#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace collage {

std::string to_string(const Error& error) {
  std::string text = "error[" + error.code + "]: " + error.where + ": saw " + error.saw;
  if (!error.allowed.empty()) text += "; allowed " + error.allowed;
  return text;
}

std::unexpected<Error> fail(ExitCode exit, std::string code, std::string where, std::string saw, std::string allowed) {
  return std::unexpected(Error{.code = std::move(code),
                               .where = std::move(where),
                               .saw = std::move(saw),
                               .allowed = std::move(allowed),
                               .exit = exit});
}

void stop_on_bug(const char* file, int line, const char* condition, const std::string& detail) {
  std::fprintf(stderr, "collage: bug[base/check-failed]: %s:%d: %s %s\n", file, line, condition, detail.c_str());
  std::abort();
}

}  // namespace collage
