// Running every variant that the backend offers for graphs from text against plain loops.
#pragma once

#include <string>
#include <vector>

#include "tests/support/written_graph.h"

namespace collage::test {

/// Names of the variants offered in an accuracy class; empty when the graph is refused.
std::vector<std::string> variants_of(const std::string& text, Accuracy accuracy = Accuracy::kStandard);

/// What load() is asked for it; the artifact and the graph outlive the request.
LoadRequest request_of(const Graph& graph, const Artifact& artifact, int threads = 1);

/// Runs every variant of class standard with one thread and two, and compares with plain loops. Gives their names.
std::vector<std::string> expect_right(const std::string& text);

/// The largest error of a variant over the largest expected number.
double error_of(const std::string& text, const std::string& variant, Accuracy accuracy);

/// Why the whole graph is refused; "" when it is not.
std::string refusal_of(const std::string& text);

}  // namespace collage::test
