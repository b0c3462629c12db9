// Fields of the JSON objects in artifacts, listed once for writing and reading, and words that stand for enumerators.
// In:  an object, a struct and the list of its fields. Out: the fields written or read.
// Source: nlohmann's json, whose exceptions readers let pass to their caller.
#pragma once

#include <stdexcept>
#include <string>
#include <tuple>

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

/// A member and its name in the text.
template <class Struct, class T>
struct Field {
  const char* name;
  T Struct::*member;
};

/// Writes the members of a list of fields, without those that have the values of a new Struct: artifacts stay small.
template <class Struct, class... T>
void put(nlohmann::json& object, const Struct& value, const std::tuple<Field<Struct, T>...>& fields) {
  const Struct absent;
  const auto put_one = [&](const auto& field) {
    if (value.*field.member != absent.*field.member) object[field.name] = value.*field.member;
  };
  std::apply([&](const auto&... field) { (put_one(field), ...); }, fields);
}

/// Reads them. Members whose field is not there stay as they are.
template <class Struct, class... T>
void get(const nlohmann::json& object, Struct& value, const std::tuple<Field<Struct, T>...>& fields) {
  const auto get_one = [&](const auto& field) {
    if (const auto found = object.find(field.name); found != object.end()) found->get_to(value.*field.member);
  };
  std::apply([&](const auto&... field) { (get_one(field), ...); }, fields);
}

}  // namespace collage::json_fields
