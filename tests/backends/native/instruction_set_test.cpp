// Which instructions kernels may have here, and that no kernel meets a processor that lacks one.
#include "instruction_set.h"

#include "backend/extensions/portability_extension.h"
#include "native_fixture.h"
#include "tests/support/paths.h"
#include "tests/support/prepare_one.h"
#include "tests/support/scoped_variable.h"

namespace collage::test {
namespace {

using native::all_instruction_sets;
using native::best_instruction_set;
using native::instruction_set_of;
using native::runs_here;

constexpr const char* kMask = "COLLAGE_INSTRUCTION_SETS";
constexpr const char* kConvolution =
    "graph(%x: f32[1,32,9,7], %w: f32[32,32,3,3], %wb: f32[32]) -> (%y) { %c: f32[1,32,9,7] = Conv(%x, %w, %wb) "
    "{kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[1,32,9,7] = HardSwish(%c) }";

/// The forged answer for as long as this lives.
class Mask : public ScopedVariable {
 public:
  explicit Mask(const std::string& names) : ScopedVariable(kMask, names) {}
};

std::string best() {
  const native::InstructionSet* set = best_instruction_set();
  return set == nullptr ? "none" : std::string(set->name);
}

std::string unusable(const std::string& instance) {
  Registry registry({test::build_path("/lib/collage")});
  const auto backend = registry.inspect(instance);
  return backend ? (*backend)->info().unusable : backend.error().code;
}

TEST(InstructionSet, IsFoundByItsName) {
  for (const native::InstructionSet& set : all_instruction_sets()) EXPECT_EQ(instruction_set_of(set.name), &set);
  EXPECT_EQ(instruction_set_of("sse2"), nullptr);
  EXPECT_EQ(instruction_set_of(""), nullptr);
}

TEST(InstructionSet, IsTheBestThatTheMaskLeaves) {
  for (const native::InstructionSet& set : all_instruction_sets()) {
    if (!runs_here(set)) continue;
    const Mask mask{std::string(set.name)};
    EXPECT_EQ(best(), set.name);
    for (const native::InstructionSet& other : all_instruction_sets()) EXPECT_EQ(runs_here(other), &other == &set);
  }
}

TEST(InstructionSet, IsNoneWhenTheMaskLeavesNone) {
  for (const std::string names : {"", "none", "avx", "AVX2", "avx512_", "avx51"}) {
    const Mask mask(names);
    EXPECT_EQ(best(), "none") << names;
    EXPECT_NE(unusable("native"), "");
  }
}

TEST(InstructionSet, IsNeverAddedByTheMask) {
  std::string all;
  for (const native::InstructionSet& set : all_instruction_sets())
    all += (all.empty() ? "" : ",") + std::string(set.name);
  const std::string before = best();
  std::vector<bool> had;
  for (const native::InstructionSet& set : all_instruction_sets()) had.push_back(runs_here(set));
  const Mask mask(all);
  EXPECT_EQ(best(), before);
  for (std::size_t i = 0; i < had.size(); ++i) EXPECT_EQ(runs_here(all_instruction_sets()[i]), had[i]);
}

TEST(InstructionSet, IsPartOfTheBuildThatCostsAreKeyedBy) {
  EXPECT_THAT(compiling().info().build, testing::EndsWith(" " + best()));
  EXPECT_THAT(compiling("native:isa=avx2").info().build, testing::EndsWith(" avx2"));
}

TEST(InstructionSet, OfAnUnknownNameIsUnusableWithTheAllowedOnes) {
  const std::string words = unusable("native:isa=sse9");
  EXPECT_THAT(words, testing::HasSubstr("sse9"));
  for (const native::InstructionSet& set : all_instruction_sets())
    EXPECT_THAT(words, testing::HasSubstr(std::string(set.name)));
  EXPECT_THAT(unusable("native:cores=2"), testing::AllOf(testing::HasSubstr("cores"), testing::HasSubstr("isa")));
}

TEST(InstructionSet, ThatIsNotHereIsUnusable) {
  const Mask mask("avx2");
  EXPECT_EQ(unusable("native:isa=avx2"), "");
  EXPECT_THAT(unusable("native:isa=avx512"), testing::HasSubstr("avx512"));
}

TEST(InstructionSet, OfALesserProcessorRefusesAKernel) {
  if (!runs_here(*instruction_set_of("avx512"))) GTEST_SKIP() << "no avx512 here";
  const Graph graph = graph_of("graph(%a: f32[5]) -> (%y) { %y: f32[5] = Relu(%a) }");
  Backend& backend = compiling("native:isa=avx512");
  const Variant variant = variants_of(backend, graph).at(0);
  const Artifact artifact = artifact_of(backend, graph, variant);
  const LoadRequest request = request_of(graph, variant, artifact);
  {
    const Mask mask("avx2");
    const auto kernel = loading("native:isa=avx2").load(request);
    ASSERT_FALSE(kernel);
    EXPECT_EQ(kernel.error().code, "backend/incompatible-artifact");
    EXPECT_THAT(kernel.error().saw, testing::HasSubstr("avx512"));
    EXPECT_THAT(kernel.error().allowed, testing::HasSubstr("this processor"));
    EXPECT_EQ(test::prepare_one(loading("native:isa=avx2"), request).error().code, "backend/incompatible-artifact");
  }
  EXPECT_TRUE(loading("native:isa=avx2").load(request)) << "an instance runs what the processor has";
}

/// A convolution as it is shipped from a processor with AVX-512.
struct Shipped {
  Graph graph = graph_of(kConvolution);
  Backend& backend = compiling("native:isa=avx512");
  Variant variant = variant_of(backend, graph, "direct");
  Artifact plain = artifact_of(backend, graph, variant);
  Artifact portable = artifact_of(backend, graph, variant, {.portable = true});

  std::vector<Tensor> run(const std::string& instance) const {
    const auto kernel = loading(instance).load(request_of(graph, variant, portable));
    if (kernel) return run_kernel(**kernel, graph, variant, portable.workspace_bytes);
    ADD_FAILURE() << to_string(kernel.error());
    return {};
  }
};

TEST(PortableKernel, RunsOnALesserProcessorWithTheSameNumbers) {
  if (!runs_here(*instruction_set_of("avx512"))) GTEST_SKIP() << "no avx512 here";
  const Shipped shipped;
  EXPECT_EQ(shipped.portable.compatibility, "native/2 avx512 avx2");
  EXPECT_GE(shipped.portable.workspace_bytes, shipped.plain.workspace_bytes);
  const std::vector<Tensor> here = shipped.run("native");
  const std::vector<Tensor> forced = shipped.run("native:isa=avx2");
  const Mask mask("avx2");
  const std::vector<Tensor> there = shipped.run("native:isa=avx2");
  EXPECT_EQ(difference(there, here, Accuracy::kStrict), "");
  EXPECT_EQ(there, forced) << "an instance for the smaller set runs the code of the older processor";
}

TEST(PortableKernel, IsJudgedByItsCompatibilityAlone) {
  if (!runs_here(*instruction_set_of("avx512"))) GTEST_SKIP() << "no avx512 here";
  EXPECT_EQ(judge_artifact(loading(), "native/2 avx512 avx2").value(), "");
  EXPECT_EQ(judge_artifact(loading("native:isa=avx2"), "native/2 avx512 avx2").value(),
            "kernels for avx2 instead of avx512");
  const Mask mask("avx2");
  EXPECT_EQ(judge_artifact(loading(), "native/2 avx512 avx2").value(), "kernels for avx2 instead of avx512");
  EXPECT_EQ(judge_artifact(loading(), "native/2 avx2").value(), "");
  EXPECT_EQ(judge_artifact(loading(), "native/2 avx512").error().code, "backend/incompatible-artifact");
  EXPECT_EQ(judge_artifact(loading(), "native/1 avx2").error().code, "backend/incompatible-artifact");
}

TEST(PortableKernel, KeepsBothCodesWhenItsWeightsArePacked) {
  if (!runs_here(*instruction_set_of("avx512"))) GTEST_SKIP() << "no avx512 here";
  const Shipped shipped;
  const LoadRequest original = request_of(shipped.graph, shipped.variant, shipped.portable);
  const auto prepared = test::prepare_one(loading(), original);
  ASSERT_TRUE(prepared && *prepared);
  const LoadRequest request = prepared_request(original, **prepared);
  const Mask mask("avx2");
  const auto kernel = loading("native:isa=avx2").load(request);
  ASSERT_TRUE(kernel) << to_string(kernel.error());
  EXPECT_EQ(run_kernel(**kernel, shipped.graph, shipped.variant, shipped.portable.workspace_bytes),
            shipped.run("native:isa=avx2"));
}

TEST(PortableKernel, IsAnErrorWhenTheCodeForTheLesserProcessorIsDamaged) {
  if (!runs_here(*instruction_set_of("avx512"))) GTEST_SKIP() << "no avx512 here";
  Shipped shipped;
  shipped.portable.bytes[shipped.portable.bytes.size() - 100] ^= 1;
  const auto kernel = loading().load(request_of(shipped.graph, shipped.variant, shipped.portable));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, "backend/bad-artifact");
}

TEST(InstructionSet, OfEachKindGivesRightNumbers) {
  if (!has_reference()) GTEST_SKIP() << "no reference here";
  for (const native::InstructionSet& set : all_instruction_sets())
    if (runs_here(set)) expect_right(kConvolution, {}, "native:isa=" + std::string(set.name));
}

TEST(InstructionSet, GivesTheSameNumbersInAvx2AsInTheBest) {
  const Graph graph = graph_of(kConvolution);
  const Variant best_variant = variant_of(compiling(), graph, "direct");
  const Variant small_variant = variant_of(compiling("native:isa=avx2"), graph, "direct");
  EXPECT_EQ(difference(run_variant(graph, small_variant, {}, "native:isa=avx2"), run_variant(graph, best_variant),
                       Accuracy::kStrict),
            "");
}

}  // namespace
}  // namespace collage::test
