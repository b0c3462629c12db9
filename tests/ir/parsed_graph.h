// A graph from its text form, which must be right.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "ir/graph.h"

namespace collage {

inline Graph parsed(std::string_view text, const std::map<std::string, Tensor>& constants = {}) {
  auto graph = parse_graph(text, constants);
  EXPECT_TRUE(graph) << to_string(graph.error());
  return graph ? std::move(*graph) : Graph{};
}

}  // namespace collage
