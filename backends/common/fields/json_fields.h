// Fields of the JSON objects in artifacts: those with their default value are left out, and words stand for
// enumerators. In:  an object, a field's name. Out: the field written or read. Source: nlohmann's json, whose
// exceptions readers let pass to their caller.
#pragma once

#include <stdexcept>
#include <string>

#include "base/json_numbers.h"
#include "ir/type.h"

namespace collage::json_fields {

/// `names` has a word for each enumerator, in order. Throws std::runtime_error for any other word.
template <class Enum, class Names>
Enum enum_of(const Names& names, const std::string& name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  throw std::runtime_error("unknown word " + name);
}

template <class Enum, class Names>
const char* word_of(const Names& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

/// Writes a field unless it has its default, so that artifacts stay small.
template <class T>
void put(nlohmann::json& object, const char* name, const T& value, const T& absent = {}) {
  if (value != absent) object[name] = value;
}

inline void put(nlohmann::json& object, const char* name, const Extents& value) {
  if (!value.empty()) object[name] = value;
}

/// Leaves `value` as it is where there is no such field.
template <class T>
void get(const nlohmann::json& object, const char* name, T& value) {
  if (const auto found = object.find(name); found != object.end()) value = found->get<T>();
}

}  // namespace collage::json_fields
