// Artifacts with a text in them replaced, as damage would.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/variant_runner.h"

namespace collage::test {

/// Each pair: a text of the artifact, and what stands in its place. None of these may load.
inline void expect_refused_when_changed(const Graph& graph, const Variant& variant, const Artifact& whole,
                                        const std::vector<std::pair<std::string, std::string>>& changes) {
  for (const auto& [from, to] : changes) {
    Artifact artifact = whole;
    const std::size_t at = artifact.bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << artifact.bytes;
    artifact.bytes.replace(at, from.size(), to);
    EXPECT_FALSE(loading("onednn3").load(request_of(graph, variant, artifact))) << to;
  }
}

}  // namespace collage::test
