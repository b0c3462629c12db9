// Running every variant that an instance offers for graphs from text against plain loops.
#pragma once

#include <string>
#include <vector>

#include "tests/support/written_graph.h"

namespace collage::test {

/// One instance for each library that is here.
std::vector<std::string> usable_instances();

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
