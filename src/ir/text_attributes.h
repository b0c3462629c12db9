// Reads the attributes of a node in the text form of graphs; the grammar stands in text_print.cpp.
// In: a scanner behind the opening brace. Out: the attributes as written, or error ir/parse.
// Not here: bodies; who reads graphs reads them (text_parse.cpp).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/text_scan.h"

namespace collage {

/// What the attributes of a node may refer to.
struct AttributeSources {
  const std::map<std::string, Tensor>& constants;  ///< by hash
  std::function<Result<Body>()> read_body;         ///< called where a body begins
};

/// "name = value, name = value }" with the closing brace.
[[nodiscard]] Result<std::vector<Attribute>> read_attributes(Scanner& scanner, const AttributeSources& sources);

}  // namespace collage
