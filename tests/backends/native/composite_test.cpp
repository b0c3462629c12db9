// Operators that exporters write as several nodes: that they are proposed as one region, with what follows them, and
// that what only looks like one is not taken.
#include <algorithm>

#include "native_fixture.h"
#include "region/candidates.h"

namespace collage::test {
namespace {

/// The most nodes that one candidate takes.
std::size_t largest_candidate(const Graph& graph) {
  Backend& backend = compiling();
  const Proposer proposer{.backend = "native", .rules = backend.rules(), .support = [&](const Region& region) {
                            return backend.support(graph, region, {});
                          }};
  const CandidatePool pool = propose(graph, uses_of(graph), {&proposer, 1});
  std::size_t most = 0;
  for (const Candidate& one : pool.candidates) most = std::max(most, pool.regions[one.region].nodes.count());
  return most;
}

constexpr const char* kAttention =
    "graph(%q: f32[1,2,9,8], %k: f32[1,2,8,9], %v: f32[1,2,9,8], %m: f32[1,1,1,9]) -> (%y) { constant %c = f32[]{0.3} "
    "constant %j = i64[3]{1,9,16} %s: f32[1,2,9,9] = MatMul(%q, %k) %t: f32[1,2,9,9] = Mul(%s, %c) "
    "%u: f32[1,2,9,9] = Add(%t, %m) %p: f32[1,2,9,9] = Softmax(%u) {axis=AXIS} %o: f32[1,2,9,8] = MatMul(%p, %v) "
    "%r: f32[1,9,2,8] = Transpose(%o) {perm=[0,2,1,3]} %y: f32[1,9,16] = Reshape(%r, %j) }";
constexpr const char* kGroupNorm =
    "graph(%x: f32[1,4,3,3], %w: f32[4,1,1]) -> (%y) { constant %in = i64[3]{0,2,-1} constant %out = i64[4]{1,4,3,3} "
    "constant %one = f32[2]{1.0,SCALE} constant %zero = f32[2]{0.0,0.0} %r: f32[1,2,18] = Reshape(%x, %in) "
    "%i: f32[1,2,18] = InstanceNormalization(%r, %one, %zero) %n: f32[1,4,3,3] = Reshape(%i, %out) "
    "%s: f32[1,4,3,3] = Mul(%n, %w) %y: f32[1,4,3,3] = Relu(%s) }";

Graph filled(std::string text, const std::string& hole, const std::string& with) {
  return graph_of(text.replace(text.find(hole), hole.size(), with));
}

TEST(Composite, AttentionIsOneRegionWithTheMovesAfterIt) {
  EXPECT_EQ(largest_candidate(filled(kAttention, "AXIS", "-1")), 7U);
  EXPECT_EQ(largest_candidate(filled(kAttention, "AXIS", "3")), 7U);
}

TEST(Composite, AttentionTakesTheMovesOfItsOperandsAlong) {
  EXPECT_EQ(largest_candidate(graph_of(
                "graph(%q: f32[1,9,2,8], %k: f32[1,9,2,8], %v: f32[1,2,9,8]) -> (%y) { constant %c = f32[]{2.5} "
                "%a: f32[1,2,9,8] = Transpose(%q) {perm=[0,2,1,3]} %b: f32[1,2,8,9] = Transpose(%k) {perm=[0,2,3,1]} "
                "%s: f32[1,2,9,9] = MatMul(%a, %b) %d: f32[1,2,9,9] = Div(%s, %c) %p: f32[1,2,9,9] = Softmax(%d) "
                "%y: f32[1,2,9,8] = MatMul(%p, %v) }")),
            6U);
}

TEST(Composite, ASoftmaxAlongAnotherAxisIsNoAttention) {
  EXPECT_LT(largest_candidate(filled(kAttention, "AXIS", "2")), 5U);
}

TEST(Composite, GroupNormalisationIsOneRegionWithItsScaleAndActivation) {
  EXPECT_EQ(largest_candidate(filled(kGroupNorm, "SCALE", "1.0")), 5U);
}

TEST(Composite, AGateAfterAConvolutionOrGroupNormalisationIsPartOfItsRegion) {
  EXPECT_EQ(
      largest_candidate(graph_of("graph(%x: f32[1,4,3,3], %w: f32[4,4,1,1]) -> (%y) { %c: f32[1,4,3,3] = Conv(%x, %w) "
                                 "%g: f32[1,4,3,3] = Sigmoid(%c) %y: f32[1,4,3,3] = Mul(%c, %g) }")),
      3U);
  const std::string gated = std::string(kGroupNorm)
                                .replace(std::string(kGroupNorm).find("%y: f32[1,4,3,3] = Relu(%s)"), 27,
                                         "%g: f32[1,4,3,3] = Sigmoid(%s) %y: f32[1,4,3,3] = Mul(%g, %s)");
  EXPECT_EQ(largest_candidate(filled(gated, "SCALE", "1.0")), 6U);
}

TEST(Composite, AnInstanceNormThatScalesGroupsIsNoGroupNormalisation) {
  EXPECT_LT(largest_candidate(filled(kGroupNorm, "SCALE", "2.0")), 4U);
}

}  // namespace
}  // namespace collage::test
