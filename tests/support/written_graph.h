// Graphs from text with numbers drawn by the names of their values, and what plain loops make of them: for tests that
// run a backend's variants of small graphs.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/backends/onednn/naive.h"
#include "tests/support/variant_runner.h"

namespace collage::test {

/// A graph in the text form, every type written. Inputs called w... become constants, of floats or of bytes.
Graph graph_of(const std::string& text);

/// The numbers that an input has in every test, by its name.
std::vector<float> numbers_of(const Graph& graph, ValueId id);
std::vector<Tensor> inputs_of(const Graph& graph);
/// What plain loops make of the graph, by output of the region of all nodes.
std::vector<Numbers> expected_by_port(const Graph& graph);
/// The first of these.
Numbers expected_of(const Graph& graph);

/// Fails the test when an element errs by more than 1e-5 of the largest.
void expect_close(std::span<const float> got, const Numbers& wanted);
inline void expect_close(const Tensor& got, const Numbers& wanted) { expect_close(got.data.as<float>(), wanted); }

/// The variants that an instance offers for the graph, none when it refuses.
std::vector<Variant> variants_of(const std::string& instance, const Graph& graph, const CompileOptions& options = {});
/// The artifact of one variant. A refusal stops the test program.
Artifact artifact_of(Backend& backend, const Graph& graph, const Variant& variant, int threads = 1);
/// Likewise of the variant of this name, one of those offered.
Artifact artifact_of(Backend& backend, const Graph& graph, const std::string& variant, int threads = 1);
/// "reason: detail" why an instance refuses the whole graph; "" when it does not.
std::string refusal_of(const std::string& instance, const std::string& text);

}  // namespace collage::test
