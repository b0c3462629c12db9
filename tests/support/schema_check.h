// Checks JSON against the words of JSON Schema that our published schemas use, and stops at any other word.
#pragma once

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace collage::test {

/// A schema of docs/; null when it cannot be read.
inline nlohmann::json published_schema(const std::string& name) {
  std::ifstream file(std::string(COLLAGE_SOURCE_DIR) + "/docs/" + name);
  return nlohmann::json::parse(file, nullptr, false);
}

class SchemaCheck {
 public:
  explicit SchemaCheck(const nlohmann::json& root) : root_(root) {}

  /// "" when the value has the promised form, else the first place where it has not.
  [[nodiscard]] std::string problem(const nlohmann::json& value) const { return problem(value, root_, ""); }

 private:
  using Json = nlohmann::json;

  std::string problem(const Json& value, const Json& schema, const std::string& where) const {
    if (schema.contains("$ref")) {
      const std::string target = schema["$ref"];
      return problem(value, root_.at(Json::json_pointer(target.substr(1))), where);
    }
    if (schema.contains("anyOf")) {
      const bool fits =
          std::ranges::any_of(schema["anyOf"], [&](const Json& one) { return problem(value, one, where).empty(); });
      return fits ? "" : where + ": none of anyOf";
    }
    for (const auto& [word, unused] : schema.items())
      if (!known().contains(word)) return where + ": the schema's word " + word + " is not checked";
    if (schema.contains("const") && value != schema["const"]) return where + ": not " + schema["const"].dump();
    if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
      return where + ": " + value.dump() + " not in enum";
    if (schema.contains("type") && !has_type(value, schema["type"])) return where + ": type of " + value.dump();
    if (value.is_array() && schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        if (auto wrong = problem(value[i], schema["items"], where + "/" + std::to_string(i)); !wrong.empty())
          return wrong;
    return value.is_object() ? problem_of_members(value, schema, where) : "";
  }

  std::string problem_of_members(const Json& value, const Json& schema, const std::string& where) const {
    for (const Json& key : schema.value("required", Json::array()))
      if (!value.contains(key.get<std::string>())) return where + ": no " + key.get<std::string>();
    const Json properties = schema.value("properties", Json::object());
    const Json others = schema.value("additionalProperties", Json(true));
    for (const auto& [key, member] : value.items()) {
      const std::string place = where + "/" + key;
      std::string wrong;
      if (properties.contains(key))
        wrong = problem(member, properties[key], place);
      else if (others.is_object())
        wrong = problem(member, others, place);
      else if (!others.get<bool>())
        wrong = place + ": not in the schema";
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  static bool has_type(const Json& value, const Json& type) {
    if (type.is_array()) return std::ranges::any_of(type, [&](const Json& one) { return has_type(value, one); });
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_boolean();
    return type == "null" && value.is_null();
  }

  static const std::set<std::string>& known() {
    static const std::set<std::string> words = {"$schema",   "$defs", "title", "description",          "const",
                                                "enum",      "type",  "items", "additionalProperties", "required",
                                                "properties"};
    return words;
  }

  const Json& root_;
};

}  // namespace collage::test
