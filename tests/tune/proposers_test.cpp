#include "tune/proposers.h"

#include "tests/tune/tune_fixture.h"
#include "tune/confirm/assemble.h"
#include "tune/confirm/whole_model.h"

namespace collage {
namespace {

class Proposers : public ::testing::Test {
 protected:
  [[nodiscard]] Result<std::vector<Proposer>> make(const std::vector<std::string>& instances) {
    return make_proposers(registry, instances, graph, {});
  }

  Graph graph = test::small_graph();
  Region whole = whole_region(graph, uses_of(graph));
  Registry registry{test::module_folders()};
};

TEST_F(Proposers, AreOnePerInstanceInOrderAndAskTheirBackend) {
  const auto proposers = make({"test:build=b", "host", "test"});
  ASSERT_TRUE(proposers) << to_string(proposers.error());
  ASSERT_EQ(proposers->size(), 3U);
  EXPECT_EQ(proposers->at(0).backend, "test:build=b");
  EXPECT_EQ(proposers->at(1).backend, "host");
  EXPECT_EQ(proposers->at(2).rules.growth, Growth::kAny);
  const auto variants = proposers->at(2).support(whole);
  ASSERT_TRUE(variants);
  EXPECT_EQ(variants->front().name, "default");
}

TEST_F(Proposers, AbsentInstanceIsAnError) {
  const auto proposers = make({"host", "absent"});
  ASSERT_FALSE(proposers);
  EXPECT_EQ(proposers.error().code, "backend/missing");
}

TEST_F(Proposers, ExceptionOfABackendIsItsRefusal) {
  const auto proposers = make({"test:fault=support-throw"});
  ASSERT_TRUE(proposers);
  const auto variants = proposers->front().support(whole);
  ASSERT_FALSE(variants);
  EXPECT_EQ(variants.error().reason, RefusalReason::kCompile);
  EXPECT_NE(variants.error().detail.find("a library's exception"), std::string::npos) << variants.error().detail;
}

TEST_F(Proposers, AnswerThatDoesNotFitTheRegionIsARefusal) {
  for (const std::string fault : {"propose-wrong", "propose-garbage"}) {
    const Backend& backend = **registry.get("test:fault=" + fault);
    const auto asked = guarded_support(backend, graph, whole, {});
    ASSERT_FALSE(asked) << fault;
    EXPECT_EQ(asked.error().reason, RefusalReason::kFormat);
  }
}

/// Rows of a table by what `body` makes of the input.
Graph lookup(const std::string& body) {
  return parse_graph("graph(%x: f32[10,4], %n: i64[2]) -> (%y) { opset ai.onnx 26 " + body +
                     " %y: f32[2,4] = Gather(%x, %i) \"pick\" }")
      .value();
}

TEST_F(Proposers, OperandsInsideThatNobodyLooksAtAreARefusal) {
  const Graph anything = lookup("%i: i64[2] = Add(%n, %n)");
  const Region all = whole_region(anything, uses_of(anything));
  for (const std::string name : {"host", "openvino", "native"}) {
    const auto backend = registry.get(name);
    if (!backend) continue;
    const auto asked = guarded_support(**backend, anything, all, {});
    ASSERT_FALSE(asked) << name;
    EXPECT_EQ(asked.error().detail, "Gather 'pick' has operand 'i' computed inside, and the library does not check it");
  }
  const auto checking = registry.get("onnxruntime");
  EXPECT_TRUE(!checking || guarded_support(**checking, anything, all, {}));
}

TEST_F(Proposers, OperandsInsideThatCannotBeBadAreTaken) {
  const Graph bounded = lookup("constant %l = i64[]{-10} constant %h = i64[]{9} %i: i64[2] = Clip(%n, %l, %h)");
  const auto backend = registry.get("openvino");
  if (!backend) GTEST_SKIP() << "no such library here";
  EXPECT_TRUE(guarded_support(**backend, bounded, whole_region(bounded, uses_of(bounded)), {}));
}

TEST_F(Proposers, PlansOfAnEngineThatLooksAtNothingAreRefused) {
  const auto backend = registry.get("openvino");
  if (!backend) GTEST_SKIP() << "no such library here";
  const Graph anything = lookup("%i: i64[2] = Add(%n, %n)");
  const Cover cover = whole_cover(anything, "openvino");
  const auto plan = assemble({.graph = &anything, .cover = &cover, .artifacts = {Artifact{}}, .header = {}}, registry);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, "plan/unchecked-operand");
  EXPECT_EQ(plan.error().exit, ExitCode::kUnsupported);
}

TEST_F(Proposers, VendorOperatorIsKnownWhenSomeBackendDoesNotRefuseIt) {
  const std::vector<std::string> without = {"host", "test", "absent"};
  const std::vector<std::string> with = {"host", "onnxruntime"};
  EXPECT_FALSE(knows_vendor_operator(registry, without, "com.microsoft", "FastGelu"));
  EXPECT_TRUE(knows_vendor_operator(registry, with, "com.microsoft", "FastGelu"));
  EXPECT_FALSE(knows_vendor_operator(registry, with, "com.nobody", "Nothing"));
}

}  // namespace
}  // namespace collage
