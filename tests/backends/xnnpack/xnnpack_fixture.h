// Running every variant that the backend offers for graphs from text against plain loops.
#pragma once

#include <string>
#include <vector>

#include "tests/support/written_graph.h"

namespace collage::test {

/// The variants that the backend offers, "" for none.
std::vector<Variant> variants_of(const Graph& graph);
/// Runs every variant with one thread and two, and compares with plain loops, or with what they make of `same`. Gives
/// the names of the variants.
std::vector<std::string> expect_right(const std::string& text, const std::string& same = "");

/// "reason: detail" why the whole graph is refused; "" when it is not.
std::string refusal_of(const std::string& text);

/// How often a word stands in an artifact: nodes of a kind are `"kind":"KIND"`.
std::size_t count_of(const Artifact& artifact, const std::string& word);

}  // namespace collage::test
