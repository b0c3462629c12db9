#include "backend/instance.h"

#include <algorithm>

namespace collage {
namespace {

std::unexpected<Error> bad_option(const std::string& name, std::string saw) {
  return fail(ExitCode::kUsage, "backend/bad-option", name, std::move(saw), "KIND or KIND:KEY=VALUE,KEY=VALUE");
}

bool is_kind_char(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; }

}  // namespace

Result<InstanceName> parse_instance_name(const std::string& name) {
  const std::size_t colon = name.find(':');
  InstanceName parsed{.name = {}, .kind = name.substr(0, colon), .options = {}};
  if (parsed.kind.empty() || !std::all_of(parsed.kind.begin(), parsed.kind.end(), is_kind_char))
    return bad_option(name, "the kind '" + parsed.kind + "'");
  for (std::size_t from = colon; from != std::string::npos;) {
    const std::size_t comma = name.find(',', from + 1);
    const std::string option = name.substr(from + 1, comma == std::string::npos ? comma : comma - from - 1);
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) return bad_option(name, "the option '" + option + "'");
    if (!parsed.options.emplace(option.substr(0, equals), option.substr(equals + 1)).second)
      return bad_option(name, "the option '" + option.substr(0, equals) + "' twice");
    from = comma;
  }
  parsed.name = parsed.kind;
  char separator = ':';
  for (const auto& [key, value] : parsed.options) {
    parsed.name += separator + key + '=' + value;
    separator = ',';
  }
  return parsed;
}

}  // namespace collage
