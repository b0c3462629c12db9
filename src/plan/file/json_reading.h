// Reading JSON that must have a promised form; internal to src/plan.
// In: objects and keys. Out: values of exact types; what is not of the form is thrown as Damage, which the functions
// that parse whole texts turn into an error and let nobody else see.
// Cost: none beyond the parsed JSON.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "ir/type.h"

namespace collage::json_reading {

using nlohmann::json;

/// What a reader throws when the text does not have the promised form; never leaves this folder.
struct Damage {
  std::string where;
  std::string saw;
};

inline const json& member(const json& object, const std::string& key, const std::string& where) {
  if (!object.is_object()) throw Damage{where, "no JSON object"};
  const auto found = object.find(key);
  if (found == object.end()) throw Damage{where, "no key '" + key + "'"};
  return *found;
}

/// A number that fits T exactly; nlohmann::json would convert silently.
template <class T>
T number(const json& object, const std::string& key, const std::string& where) {
  const json& found = member(object, key, where);
  if constexpr (std::is_unsigned_v<T>) {
    if (found.is_number_unsigned() && std::in_range<T>(found.get<std::uint64_t>())) return found.get<T>();
  } else {
    if (found.is_number_unsigned() && std::in_range<T>(found.get<std::uint64_t>())) return found.get<T>();
    if (found.is_number_integer() && !found.is_number_unsigned() && std::in_range<T>(found.get<std::int64_t>()))
      return found.get<T>();
  }
  throw Damage{where, "key '" + key + "' with " + found.dump()};
}

inline std::string text(const json& object, const std::string& key, const std::string& where) {
  const json& found = member(object, key, where);
  if (!found.is_string()) throw Damage{where, "key '" + key + "' that is no text"};
  return found.get<std::string>();
}

inline const json& list(const json& object, const std::string& key, const std::string& where) {
  const json& found = member(object, key, where);
  if (!found.is_array()) throw Damage{where, "key '" + key + "' that is no list"};
  return found;
}

inline Shape read_shape(const json& entries, const std::string& where) {
  Shape shape;
  std::int64_t elements = 1;
  for (const json& entry : entries) {
    Dim dim;
    if (entry.is_string()) {
      dim.symbol = entry.get<std::string>();
    } else if (entry.is_number_unsigned() && std::in_range<std::int64_t>(entry.get<std::uint64_t>())) {
      dim.extent = entry.get<std::int64_t>();
      // Sizes computed from extents later must not overflow: 2^56 elements of at most 16 bytes do not.
      constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;
      if (dim.extent != 0 && elements > kMaxElements / dim.extent) throw Damage{where, "a shape beyond all memory"};
      if (dim.extent != 0) elements *= dim.extent;
    } else if (!entry.is_null()) {
      throw Damage{where, "extent " + entry.dump()};
    }
    shape.push_back(std::move(dim));
  }
  return shape;
}

/// What read_shape reads.
inline json shape_to_json(const Shape& shape) {
  json list = json::array();
  for (const Dim& dim : shape) {
    if (dim.is_static()) {
      list.push_back(dim.extent);
    } else {
      list.push_back(dim.symbol.empty() ? json(nullptr) : json(dim.symbol));
    }
  }
  return list;
}

}  // namespace collage::json_reading
