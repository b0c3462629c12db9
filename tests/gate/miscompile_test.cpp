// No planted miscompile is ever selected: every fault in up to four shapes each, next to a right candidate that is.
#include <fmt/format.h>

#include <cstdio>

#include "tests/gate/faults.h"
#include "tests/gate/gate_fixture.h"
#include "tests/support/small_networks.h"

namespace collage::test {
namespace {

struct Score {
  int planted = 0;
  int selected = 0;
  int passed_record = 0;  ///< would be selected if only recorded inputs were tried
};

void plant(GateLab& lab, std::size_t index, std::size_t shape, Score& score) {
  const Fault& fault = faults()[index];
  SCOPED_TRACE(fmt::format("{} in {}, shape {}", fault.name, fault.network, shape));
  const std::uint64_t seed = 100 * index + shape + 1;
  const Graph graph = testing_support::small_network(fault.network, shape, seed);
  ASSERT_FALSE(graph.nodes.empty());
  lab.set_network(graph, seed);
  if (::testing::Test::HasFatalFailure()) return;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) nodes.push_back(n);
  const Variant variant{.name = "default",
                        .input_formats = std::vector<Format>(graph.inputs.size()),
                        .output_formats = std::vector<Format>(graph.outputs.size())};
  const CandidateSpec faulty{.backend = fmt::format("faulty:fault={}", index), .variant = variant};
  const auto by_record = lab.judge(nodes, {faulty}, Effort::kPrepare, true);
  ASSERT_EQ(by_record.size(), 1U);
  score.passed_record += refusal_of(by_record[0]) == nullptr ? 1 : 0;
  const auto answers = lab.judge(nodes, {{.backend = kFillerEngine, .variant = variant}, faulty},
                                 fault.is_late ? Effort::kTime : Effort::kPrepare);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(refusal_of(answers[0]), nullptr) << "the right one: " << refusal_of(answers[0])->detail;
  ++score.planted;
  const Refusal* refusal = refusal_of(answers[1]);
  if (refusal == nullptr) {
    ++score.selected;
    ADD_FAILURE() << "selected";
    return;
  }
  EXPECT_EQ(refusal->reason, RefusalReason::kWrongResult) << refusal->detail;
}

TEST(Miscompiles, AreNeverSelected) {
  GateLab lab;
  if (!lab.has_reference()) GTEST_SKIP() << "no reference here";
  Score score;
  for (std::size_t index = 0; index < faults().size(); ++index)
    for (std::size_t k = 0; k < by_length(1U, 4U); ++k) plant(lab, index, index + k, score);
  EXPECT_GE(faults().size(), 50U);
  EXPECT_EQ(score.selected, 0);
  EXPECT_GT(score.passed_record, 5) << "the other sets are there for something";
  std::printf("%d planted miscompiles, %d selected; on the record alone %d\n", score.planted, score.selected,
              score.passed_record);
}

/// Plants a fault in what a backend compiles, where it takes the network with and without the fault.
void plant_in(GateLab& lab, const std::string& name, std::size_t index, Score& score) {
  const Fault& fault = faults()[index];
  if (!fault.in_graph) return;
  SCOPED_TRACE(fmt::format("{} in {}, {}", fault.name, fault.network, name));
  const std::uint64_t seed = 100 * index + 1;
  const Graph graph = testing_support::small_network(fault.network, 0, seed);
  const Region whole = whole_region(graph, uses_of(graph));
  const auto backend = lab.registry().get(name);
  const auto variants = (*backend)->support(graph, whole, {});
  if (!variants) return;
  lab.set_network(graph, seed);
  if (::testing::Test::HasFatalFailure()) return;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) nodes.push_back(n);
  const Variant& variant = variants->front();
  const CandidateSpec right{.backend = name, .variant = variant};
  const CandidateSpec faulty{.backend = fmt::format("faulty:engine={},fault={}", name, index), .variant = variant};
  const auto answers = lab.judge(nodes, {right, faulty});
  ASSERT_EQ(answers.size(), 2U);
  if (const Refusal* refusal = refusal_of(answers[0])) {
    // What a library does not compile after all has no miscompile. MNN's own Softmax errs on some large numbers.
    const bool is_known = name == "mnn" && fault.network == "softmax";
    EXPECT_TRUE(refusal->reason != RefusalReason::kWrongResult || is_known) << refusal->detail;
    return;
  }
  const Refusal* refusal = refusal_of(answers[1]);
  // The fault may be one that the backend does not take.
  if (refusal != nullptr && refusal->reason != RefusalReason::kWrongResult) return;
  ++score.planted;
  if (refusal != nullptr) return;
  ++score.selected;
  ADD_FAILURE() << "selected";
}

TEST(Miscompiles, OfOptionalBackendsAreNeverSelected) {
  GateLab lab;
  if (!lab.has_reference()) GTEST_SKIP() << "no reference here";
  for (const std::string& name : optional_backends()) {
    if (const std::string why = absence_of(lab.registry(), name); !why.empty()) {
      std::printf("skipped: %s\n", why.c_str());
      continue;
    }
    Score score;
    for (std::size_t index = 0; index < faults().size(); ++index) plant_in(lab, name, index, score);
    EXPECT_GT(score.planted, 0) << name;
    EXPECT_EQ(score.selected, 0) << name;
    std::printf("%s: %d planted miscompiles, %d selected\n", name.c_str(), score.planted, score.selected);
  }
}

}  // namespace
}  // namespace collage::test
