// Graphs from text, and running every variant that an instance offers for them against plain loops.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/registry.h"
#include "region/variant.h"
#include "tests/backends/onednn/naive.h"

namespace collage::test {

/// One instance for each library that is here.
std::vector<std::string> usable_instances();

/// An instance that compiles, and another that sees artifacts only.
Backend& compiling(const std::string& instance);
Backend& loading(const std::string& instance);

/// A graph in the text form, every type written. Inputs called w... become constants.
Graph graph_of(const std::string& text);
Region region_of(const Graph& graph);

/// The numbers that an input has in every test, by its name.
std::vector<float> numbers_of(const Graph& graph, ValueId id);
/// What plain loops make of the graph.
Numbers expected_of(const Graph& graph);

/// The artifact of one variant. A refusal stops the test program.
Artifact artifact_of(Backend& backend, const Graph& graph, const std::string& variant, int threads = 1);
/// What load() is asked for it; the artifact and the graph must outlive the request.
LoadRequest request_of(const Graph& graph, const Artifact& artifact, int threads = 1);

/// The output of one variant in plain format, loaded with `threads`; run twice, and once more in each place that the
/// artifact allows: all three times the same, which is reported to GoogleTest when it is not.
std::vector<float> run_variant(const std::string& instance, const Graph& graph, const Variant& variant,
                               int threads = 1);

/// Runs every variant on every instance with one thread and two, and compares with plain loops, or with what they make
/// of `same`. Gives the names of the variants.
std::vector<std::string> expect_right(const std::string& text, const std::string& same = "");

/// Why the whole graph is refused; "" when it is not.
std::string refusal_of(const std::string& text);

}  // namespace collage::test
