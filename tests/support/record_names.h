// The names of the values in a record, for tests that look for missing or additional ones.
#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/json.h"

namespace collage::test {

/// Sorted; read from the record's index.
inline std::vector<std::string> record_names(const std::string& record_path) {
  std::ifstream index(record_path + ".json");
  const Json json = Json::parse(index);
  std::vector<std::string> names;
  for (const Json& value : json.at("values")) names.push_back(value.at("name").get<std::string>());
  std::ranges::sort(names);
  return names;
}

}  // namespace collage::test
