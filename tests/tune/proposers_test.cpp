#include "tune/proposers.h"

#include "tests/tune/tune_fixture.h"

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

TEST_F(Proposers, VendorOperatorIsKnownWhenSomeBackendDoesNotRefuseIt) {
  const std::vector<std::string> without = {"host", "test", "absent"};
  const std::vector<std::string> with = {"host", "onnxruntime"};
  EXPECT_FALSE(knows_vendor_operator(registry, without, "com.microsoft", "FastGelu"));
  EXPECT_TRUE(knows_vendor_operator(registry, with, "com.microsoft", "FastGelu"));
  EXPECT_FALSE(knows_vendor_operator(registry, with, "com.nobody", "Nothing"));
}

}  // namespace
}  // namespace collage
