#include "tests/support/schema_check.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace collage::test {
namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

std::filesystem::path folder() { return std::filesystem::path(test::source_path()) / "docs" / "schemas"; }

/// References to other schemas name the files beside.
const Json* fetch(const std::string& uri) {
  return new Json(published_schema(std::filesystem::path(uri).filename().string()));
}
void release(const Json* document) { delete document; }

std::string text_of(valijson::ValidationResults& results) {
  std::string text;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& step : error.context) text += step;
    text += ": " + error.description + "\n";
  }
  return text;
}

}  // namespace

Json published_schema(const std::string& name) {
  std::ifstream file(folder() / name);
  return Json::parse(file, nullptr, false);
}

std::vector<std::string> published_schemas() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::string file_of_schema(const std::string& schema) {
  const std::string name = schema.substr(0, schema.rfind('/'));
  return name.substr(std::min(name.size(), std::string("collage.").size())) + ".schema.json";
}

std::string SchemaCheck::problem(const Json& value) const {
  if (!schema_.is_object()) return "no schema to check against";
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(Adapter(schema_), schema, fetch, release);
  valijson::ValidationResults results;
  return valijson::Validator().validate(schema, Adapter(value), &results) ? "" : text_of(results);
}

std::string schema_problem(const Json& value) {
  if (!value.is_object() || !value.contains("schema") || !value["schema"].is_string()) return "names no schema";
  const Json schema = published_schema(file_of_schema(value["schema"]));
  if (!schema.is_object()) return "no schema for " + value["schema"].get<std::string>();
  return SchemaCheck(schema).problem(value);
}

}  // namespace collage::test
