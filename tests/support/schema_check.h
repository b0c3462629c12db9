// Checks JSON against our published schemas, those of docs/schemas/, with valijson.
#pragma once

#include <string>
#include <vector>

#include "base/json_numbers.h"

namespace collage::test {

/// A schema of docs/schemas/ by file name; null when it cannot be read.
[[nodiscard]] nlohmann::json published_schema(const std::string& name);
/// File names of all of them, sorted.
[[nodiscard]] std::vector<std::string> published_schemas();
/// "collage.db-list/1" -> "db-list.schema.json".
[[nodiscard]] std::string file_of_schema(const std::string& schema);

/// The schema outlives it.
class SchemaCheck {
 public:
  explicit SchemaCheck(const nlohmann::json& schema) : schema_(schema) {}

  /// "" when the value has the promised form, else where it has not, and why.
  [[nodiscard]] std::string problem(const nlohmann::json& value) const;

 private:
  const nlohmann::json& schema_;
};

/// The same against the schema that the value names itself in its key "schema".
[[nodiscard]] std::string schema_problem(const nlohmann::json& value);

}  // namespace collage::test
