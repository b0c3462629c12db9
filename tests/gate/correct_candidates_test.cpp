// Right candidates are not refused: what the real backends make of random networks.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/gate/gate_fixture.h"
#include "tests/gate/random_network.h"
#include "tests/gate/random_quantised.h"
#include "tests/support/processor.h"

namespace collage::test {
namespace {

struct Tally {
  int judged = 0;
  int refused = 0;  ///< for their numbers
  int caught = 0;   ///< candidates that are known to be wrong
  std::map<std::string, int> by_backend;
};

/// OpenVINO 2026.4 computes a HardSwish that follows a MaxPool before it, as if it rose everywhere.
bool is_known_fault(const Graph& graph, const Region& region, const std::string& backend) {
  const Uses uses = uses_of(graph);
  const auto follows_pool = [&](std::size_t n) {
    const NodeId before = is_op(graph.nodes[n], "HardSwish") ? uses.producer[graph.nodes[n].inputs[0].index] : NodeId{};
    return before.valid() && region.nodes.contains(before.index) && is_op(graph.node(before), "MaxPool");
  };
  return backend == "openvino" && std::ranges::any_of(region.nodes.members(), follows_pool);
}

std::vector<CandidateSpec> candidates_of(GateLab& lab, const Graph& graph, const Region& region) {
  std::vector<CandidateSpec> found;
  std::vector<std::string> names = {"onednn", "openvino", "onnxruntime", "host"};
  for (const std::string& name : optional_backends()) names.push_back(name);
  for (const std::string& name : names) {
    const auto backend = lab.registry().get(name);
    if (!backend || !(*backend)->info().unusable.empty()) continue;
    const auto variants = (*backend)->support(graph, region, {});
    if (!variants) continue;
    for (const Variant& variant : *variants) found.push_back({.backend = name, .variant = variant});
  }
  return found;
}

/// Nodes [begin, end): what lies together in a topological order is convex.
void judge_part(GateLab& lab, const Graph& graph, std::uint32_t begin, std::uint32_t end, Tally& tally) {
  std::vector<std::uint32_t> nodes;
  NodeSet set(graph.nodes.size());
  for (std::uint32_t n = begin; n < end; ++n) {
    nodes.push_back(n);
    set.insert(n);
  }
  const Region region = make_region(graph, uses_of(graph), std::move(set));
  const std::vector<CandidateSpec> candidates = candidates_of(lab, graph, region);
  const auto answers = lab.judge(nodes, candidates);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Refusal* refusal = refusal_of(answers[i]);
    // What a library does not take is not the gate's doing.
    if (refusal != nullptr && refusal->reason != RefusalReason::kWrongResult) continue;
    if (refusal != nullptr && is_known_fault(graph, region, candidates[i].backend)) {
      ++tally.caught;
      continue;
    }
    ++tally.judged;
    ++tally.by_backend[candidates[i].backend];
    if (refusal == nullptr) continue;
    ++tally.refused;
    std::printf("%s nodes %u..%u, %s %s: %s\n%s\n", graph.name.c_str(), begin, end - 1, candidates[i].backend.c_str(),
                candidates[i].variant.name.c_str(), refusal->detail.c_str(), to_text(graph).c_str());
  }
}

/// Says which backends took part, and why others did not.
void report(GateLab& lab, const Tally& tally) {
  std::printf("%d right candidates judged, %d refused; %d wrong ones caught; by backend:", tally.judged, tally.refused,
              tally.caught);
  for (const auto& [name, number] : tally.by_backend) std::printf(" %s %d", name.c_str(), number);
  std::printf("\n");
  for (const std::string& name : optional_backends())
    if (const std::string why = absence_of(lab.registry(), name); !why.empty())
      std::printf("  skipped: %s\n", why.c_str());
}

TEST(CorrectCandidates, AreNotRefused) {
  GateLab lab;
  if (!lab.has_reference()) GTEST_SKIP() << "no reference here";
  const int wanted = by_length(120, 1000);
  Tally tally;
  for (std::uint64_t seed = 1; tally.judged < wanted && seed < 2000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Graph graph = testing_support::RandomNetwork(seed).make();
    lab.set_network(graph, seed);
    if (HasFatalFailure()) return;
    const auto count = static_cast<std::uint32_t>(graph.nodes.size());
    judge_part(lab, graph, 0, count, tally);
    Dice dice(seed);
    const auto begin = static_cast<std::uint32_t>(dice.below(count));
    judge_part(lab, graph, begin, begin + 1, tally);
    judge_part(lab, graph, begin, begin + 1 + static_cast<std::uint32_t>(dice.below(count - begin)), tally);
  }
  EXPECT_GE(tally.judged, wanted);
  EXPECT_LE(tally.refused, by_length(0, 1));
  report(lab, tally);
}

/// One quantiser at a time: behind two of them a difference of one step of the first is any number of the second.
TEST(CorrectCandidates, OfBytesAreNotRefused) {
  GateLab lab;
  if (!lab.has_reference()) GTEST_SKIP() << "no reference here";
  if (!has_exact_byte_products()) GTEST_SKIP() << "the reference saturates sums of products of bytes here";
  const int wanted = by_length(120, 1000);
  Tally tally;
  for (std::uint64_t seed = 1; tally.judged < wanted && seed < 2000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    testing_support::RandomQuantised network(seed);
    const Graph graph = network.make();
    lab.set_network(graph, seed);
    if (HasFatalFailure()) return;
    for (const auto& [begin, end] : network.units()) judge_part(lab, graph, begin, end, tally);
  }
  EXPECT_GE(tally.judged, wanted);
  EXPECT_EQ(tally.refused, 0);
  report(lab, tally);
}

}  // namespace
}  // namespace collage::test
