// Typed access to members of JSON objects. A missing member or a wrong type throws JsonFault, which names the member
// and what was found; call these functions inside read_json(), which turns it into an error.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "base/json.h"

namespace collage::json_reading {

inline const Json& member(const Json& object, const std::string& key, const std::string& where) {
  if (!object.is_object()) throw JsonFault{where, "no JSON object"};
  const auto found = object.find(key);
  if (found == object.end()) throw JsonFault{where, "no key '" + key + "'"};
  return *found;
}

/// A number that fits T exactly; nlohmann::json would convert silently.
template <class T>
T number(const Json& object, const std::string& key, const std::string& where) {
  const Json& found = member(object, key, where);
  if constexpr (std::is_unsigned_v<T>) {
    if (found.is_number_unsigned() && std::in_range<T>(found.get<std::uint64_t>())) return found.get<T>();
  } else {
    if (found.is_number_unsigned() && std::in_range<T>(found.get<std::uint64_t>())) return found.get<T>();
    if (found.is_number_integer() && !found.is_number_unsigned() && std::in_range<T>(found.get<std::int64_t>()))
      return found.get<T>();
  }
  throw JsonFault{where, "key '" + key + "' with " + found.dump()};
}

inline std::string text(const Json& object, const std::string& key, const std::string& where) {
  const Json& found = member(object, key, where);
  if (!found.is_string()) throw JsonFault{where, "key '" + key + "' that is no text"};
  return found.get<std::string>();
}

inline const Json& list(const Json& object, const std::string& key, const std::string& where) {
  const Json& found = member(object, key, where);
  if (!found.is_array()) throw JsonFault{where, "key '" + key + "' that is no list"};
  return found;
}

}  // namespace collage::json_reading
