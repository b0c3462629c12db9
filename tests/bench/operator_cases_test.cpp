// The file of cases of the operator benchmark: whole, varied, and something that the engine that runs everything runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "backend/registry.h"
#include "backend/roles.h"
#include "bench/operators/operator_case.h"
#include "bench/operators/operator_classes.h"
#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"

namespace collage::bench {
namespace {

/// Fewer say little about the shapes of real models.
constexpr std::size_t kFewestCases = 60;

const std::vector<OperatorCase>& cases() {
  static const auto read = read_operator_cases(test::source_path("/bench/operators/cases.txt"));
  static const std::vector<OperatorCase> none;
  EXPECT_TRUE(read) << to_string(read.error());
  return read ? *read : none;
}

Result<std::vector<OperatorCase>> read_text(const std::string& text) {
  const test::ScratchFolder folder;
  const std::string path = folder.file("cases.txt");
  std::ofstream(path) << text;
  return read_operator_cases(path);
}

TEST(OperatorCases, AreEnoughAndEveryOneHasItsOwnName) {
  std::set<std::string> names;
  for (const OperatorCase& which : cases()) EXPECT_TRUE(names.insert(which.name).second) << which.name;
  EXPECT_GE(names.size(), kFewestCases);
}

TEST(OperatorCases, CoverEveryClassAndNoOther) {
  std::map<std::string, std::size_t> counts;
  for (const OperatorCase& which : cases()) ++counts[which.class_name()];
  for (const OperatorClass& known : kOperatorClasses) {
    EXPECT_GE(counts[std::string(known.name)], 2U) << known.name;
    counts.erase(std::string(known.name));
  }
  EXPECT_TRUE(counts.empty()) << counts.begin()->first;
}

TEST(OperatorCases, SayWhichModelTheyAreFrom) {
  for (const OperatorCase& which : cases()) {
    if (which.class_name() == "int8") continue;
    EXPECT_FALSE(which.model.empty()) << which.name;
    EXPECT_GT(which.share, 0) << which.name;
  }
}

TEST(OperatorCases, AreWhatTheirTextReadsBackAs) {
  for (const OperatorCase& which : cases()) {
    const auto again = read_text(to_text(which));
    ASSERT_TRUE(again) << to_string(again.error());
    ASSERT_EQ(again->size(), 1U);
    EXPECT_EQ(again->front().graph, which.graph) << which.name;
    EXPECT_EQ(again->front().ranges, which.ranges) << which.name;
  }
}

TEST(OperatorCases, RunInTheEngineThatRunsEverything) {
  Registry registry({test::build_path("/lib/collage")});
  const auto engine = registry.get(kFillerEngine);
  if (!engine) GTEST_SKIP() << engine.error().saw;
  for (const OperatorCase& which : cases()) {
    const Region region = whole_region(which.graph, uses_of(which.graph));
    const auto offered = (*engine)->support(which.graph, region, {});
    EXPECT_TRUE(offered) << which.name << ": " << offered.error().detail;
  }
}

TEST(OperatorCases, KeepWeightsApartFromInputs) {
  const auto read = read_text(
      "case conv_direct/tiny model=m share=1.5 %w0=2..3\n"
      "graph(%x0: f32[1,2,4,4], %w0: f32[2,2,3,3]) -> (%y0) { %y0: f32[1,2,2,2] = Conv(%x0, %w0) \"n0\" }\n");
  ASSERT_TRUE(read) << to_string(read.error());
  const auto ready = ready_case(read->front());
  ASSERT_TRUE(ready) << to_string(ready.error());
  ASSERT_EQ(ready->graph.inputs.size(), 1U);
  ASSERT_EQ(ready->inputs.size(), 1U);
  const Tensor* weights = constant_of(ready->graph, ready->graph.nodes[0].inputs[1]);
  ASSERT_NE(weights, nullptr);
  for (const float element : weights->data.as<float>()) {
    EXPECT_GE(element, 2.0F);
    EXPECT_LE(element, 3.0F);
  }
}

TEST(OperatorCases, AreRefusedWhenALineIsMalformed) {
  const auto read = read_text("case conv_direct/tiny %w0=2\ngraph() -> () { }\n");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "bench/malformed");
}

}  // namespace
}  // namespace collage::bench
