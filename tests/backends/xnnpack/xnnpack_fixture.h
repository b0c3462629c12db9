// Graphs from text, and running every variant that the backend offers for them against plain loops.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/backends/onednn/naive.h"
#include "tests/support/variant_runner.h"

namespace collage::test {

/// A graph in the text form, every type written. Inputs called w... become constants.
Graph graph_of(const std::string& text);

/// The numbers that an input has in every test, by its name.
std::vector<float> numbers_of(const Graph& graph, ValueId id);
std::vector<Tensor> inputs_of(const Graph& graph);
/// What plain loops make of the graph's first output.
Numbers expected_of(const Graph& graph);

/// The variants that the backend offers, "" for none.
std::vector<Variant> variants_of(const Graph& graph);
/// The artifact of one variant. A refusal stops the test program.
Artifact artifact_of(Backend& backend, const Graph& graph, const std::string& variant, int threads = 1);

/// Runs every variant with one thread and two, and compares with plain loops, or with what they make of `same`. Gives
/// the names of the variants.
std::vector<std::string> expect_right(const std::string& text, const std::string& same = "");

/// "reason: detail" why the whole graph is refused; "" when it is not.
std::string refusal_of(const std::string& text);

/// How often a word stands in an artifact: nodes of a kind are `"kind":"KIND"`.
std::size_t count_of(const Artifact& artifact, const std::string& word);

}  // namespace collage::test
