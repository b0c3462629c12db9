// Graphs from text, and running every variant that an instance offers for them against plain loops.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/backends/onednn/naive.h"
#include "tests/support/variant_runner.h"

namespace collage::test {

/// One instance for each library that is here.
std::vector<std::string> usable_instances();

/// A graph in the text form, every type written. Inputs called w... become constants.
Graph graph_of(const std::string& text);

/// The numbers that an input has in every test, by its name.
std::vector<float> numbers_of(const Graph& graph, ValueId id);
/// What plain loops make of the graph.
Numbers expected_of(const Graph& graph);

/// The artifact of one variant. A refusal stops the test program.
Artifact artifact_of(Backend& backend, const Graph& graph, const std::string& variant, int threads = 1);
/// What load() is asked for it with plain ports; the artifact and the graph must outlive the request.
LoadRequest request_of(const Graph& graph, const Artifact& artifact);

/// The output of one variant, compiled for and loaded with so many threads.
std::vector<float> run_variant(const std::string& instance, const Graph& graph, const Variant& variant,
                               int threads = 1);

/// Runs every variant on every instance with one thread and two, and compares with plain loops, or with what they make
/// of `same`. Gives the names of the variants.
std::vector<std::string> expect_right(const std::string& text, const std::string& same = "");

/// Why the whole graph is refused; "" when it is not.
std::string refusal_of(const std::string& text);

}  // namespace collage::test
