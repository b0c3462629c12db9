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
/// What plain loops make of the graph, by output.
std::vector<Numbers> expected_of(const Graph& graph);

/// Names of the variants offered in an accuracy class; empty when the graph is refused.
std::vector<std::string> variants_of(const std::string& text, Accuracy accuracy = Accuracy::kStandard);

/// The artifact of one variant. A refusal stops the test program.
Artifact artifact_of(Backend& backend, const Graph& graph, const std::string& variant, int threads = 1);
/// What load() is asked for it; the artifact and the graph outlive the request.
LoadRequest request_of(const Graph& graph, const Artifact& artifact, int threads = 1);

/// Runs every variant of class standard with one thread and two, and compares with plain loops. Gives their names.
std::vector<std::string> expect_right(const std::string& text);

/// The largest error of a variant over the largest expected number.
double error_of(const std::string& text, const std::string& variant, Accuracy accuracy);

/// Why the whole graph is refused; "" when it is not.
std::string refusal_of(const std::string& text);

}  // namespace collage::test
