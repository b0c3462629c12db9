// Runs single passes on graphs written as text, and compares numbers before and after.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "passes/simplify.h"
#include "tests/passes/tiny_evaluator.h"

namespace collage::test {

inline Graph graph_of(const std::string& text) {
  auto graph = parse_graph(text);
  if (!graph) ADD_FAILURE() << to_string(graph.error()) << "\n" << text;
  return graph ? *graph : Graph{};
}

/// Options that leave on only the named passes.
inline PassOptions only(const std::set<std::string>& passes) {
  PassOptions options;
  for (const std::string_view name : pass_names())
    if (!passes.contains(std::string(name))) options.off.insert(std::string(name));
  return options;
}

inline Graph simplified(const Graph& graph, const PassOptions& options = {}) {
  auto result = simplify(graph, options, tiny_evaluator());
  if (!result) ADD_FAILURE() << to_string(result.error());
  return result ? result->graph : Graph{};
}

inline std::size_t count(const Graph& graph, std::string_view op_type) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return is_op(node, op_type); }));
}

/// Same inputs and outputs by name, type and order; every value under a shared name has the same numbers.
inline void expect_same_meaning(const Graph& before, const Graph& after, double low = -2, double high = 2) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(low, high);
  std::map<std::string, Array> inputs;
  ASSERT_EQ(before.inputs.size(), after.inputs.size());
  for (std::size_t i = 0; i < before.inputs.size(); ++i) {
    const Value& value = before.value(before.inputs[i]);
    EXPECT_EQ(value.name, after.value(after.inputs[i]).name);
    EXPECT_EQ(value.type, after.value(after.inputs[i]).type);
    Array array{value.type.extents(), {}};
    for (std::int64_t k = 0; k < element_count(array.extents); ++k) array.data.push_back(uniform(random));
    inputs[value.name] = array;
  }
  ASSERT_EQ(before.outputs.size(), after.outputs.size());
  for (std::size_t i = 0; i < before.outputs.size(); ++i) {
    EXPECT_EQ(before.value(before.outputs[i]).name, after.value(after.outputs[i]).name);
    EXPECT_EQ(before.value(before.outputs[i]).type, after.value(after.outputs[i]).type);
  }
  const auto expected = evaluate(before, inputs);
  const auto actual = evaluate(after, inputs);
  ASSERT_TRUE(expected.has_value()) << to_string(expected.error());
  ASSERT_TRUE(actual.has_value()) << to_string(actual.error()) << to_text(after);
  for (const auto& [name, array] : *actual) {
    const auto same = expected->find(name);
    if (same == expected->end()) continue;
    ASSERT_EQ(array.extents, same->second.extents) << name;
    double largest = 0;
    for (const double value : same->second.data) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < array.data.size(); ++i)
      ASSERT_NEAR(array.data[i], same->second.data[i], 1e-5 * largest + 1e-6) << name << "[" << i << "]\n"
                                                                              << to_text(after);
  }
}

}  // namespace collage::test
