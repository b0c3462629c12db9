// Which regions of quantised networks are proposed to the compiler and taken by it.
#include <set>

#include "native_fixture.h"
#include "region/candidates.h"

namespace collage::test {
namespace {

/// The regions that native takes, each as the operators in it; "~" marks what others compute as well.
std::set<std::string> taken(const std::string& text) {
  const Graph graph = graph_of(text);
  const Uses uses = uses_of(graph);
  Backend& backend = compiling();
  const Proposer proposer{.backend = "native", .rules = backend.rules(), .support = [&](const Region& region) {
                            return backend.support(graph, region, {});
                          }};
  const CandidatePool pool = propose(graph, uses, {&proposer, 1});
  std::set<std::string> found;
  for (const Candidate& candidate : pool.candidates) {
    const Region& region = pool.regions[candidate.region];
    std::string names;
    for (const std::size_t n : region.nodes.members()) {
      const bool is_repeated = region.repeated.universe() != 0 && region.repeated.contains(n);
      names += (names.empty() ? "" : " ") + std::string(is_repeated ? "~" : "") + graph.nodes[n].op_type;
    }
    found.insert(names);
  }
  return found;
}

constexpr const char* kNumbers =
    "constant %s = f32[]{0.05} constant %z = u8[]{3} constant %wz = i8[]{0} constant %t = f32[]{0.6} constant %bs = "
    "f32[]{0.03} ";

TEST(QuantisedCandidates, AreWholeFromDequantisersToTheQuantiser) {
  const auto found =
      taken(std::string("graph(%x: u8[1,16,8,8], %w: i8[8,16,3,3], %wb: i32[8]) -> (%y) { ") + kNumbers +
            "%d: f32[1,16,8,8] = DequantizeLinear(%x, %s, %z) %e: f32[8,16,3,3] = DequantizeLinear(%w, %t, %wz) "
            "%b: f32[8] = DequantizeLinear(%wb, %bs) %c: f32[1,8,6,6] = Conv(%d, %e, %b) {kernel_shape=[3,3]} "
            "%r: f32[1,8,6,6] = Relu(%c) %y: u8[1,8,6,6] = QuantizeLinear(%r, %s, %z) }");
  EXPECT_THAT(found, testing::Contains("DequantizeLinear DequantizeLinear DequantizeLinear Conv Relu QuantizeLinear"));
}

TEST(QuantisedCandidates, RepeatADequantiserThatOthersReadToo) {
  const auto found =
      taken(std::string("graph(%x: u8[7,16], %w: i8[16,16]) -> (%y) { ") + kNumbers +
            "%d: f32[7,16] = DequantizeLinear(%x, %s, %z) %e: f32[16,16] = DequantizeLinear(%w, %t, %wz) "
            "%m: f32[7,16] = MatMul(%d, %e) %q: u8[7,16] = QuantizeLinear(%m, %s, %z) "
            "%f: f32[7,16] = DequantizeLinear(%q, %s, %z) %y: f32[7,16] = Add(%d, %f) }");
  EXPECT_THAT(found, testing::Contains("~DequantizeLinear DequantizeLinear MatMul QuantizeLinear"));
}

TEST(QuantisedCandidates, RepeatADequantiserInsideAMatchThatOthersReadToo) {
  const auto found =
      taken(std::string("graph(%x: u8[1,16,8,8], %w: i8[16,16,1,1], %wb: i32[16]) -> (%y) { ") + kNumbers +
            "%d: f32[1,16,8,8] = DequantizeLinear(%x, %s, %z) %e: f32[16,16,1,1] = DequantizeLinear(%w, %t, %wz) "
            "%b: f32[16] = DequantizeLinear(%wb, %bs) %c: f32[1,16,8,8] = Conv(%d, %e, %b) {kernel_shape=[1,1]} "
            "%q: u8[1,16,8,8] = QuantizeLinear(%c, %s, %z) %f: f32[1,16,8,8] = DequantizeLinear(%q, %s, %z) "
            "%y: f32[1,16,8,8] = Add(%d, %f) }");
  EXPECT_THAT(found, testing::Contains("~DequantizeLinear DequantizeLinear DequantizeLinear Conv QuantizeLinear"));
}

}  // namespace
}  // namespace collage::test
