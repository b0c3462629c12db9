// What crosses processes: artifacts, refusals to load them; records of schedules, which outlive a process.
#include "tvm_fixture.h"

namespace collage::test {
namespace {

class TvmArtifact : public TvmTest {
 protected:
  [[nodiscard]] LoadRequest request(const Artifact& artifact) const {
    return request_of(graph_, variants_of(kTuned, graph_).at(0), artifact);
  }
  [[nodiscard]] std::string load_error(const Artifact& artifact) const {
    const auto kernel = loading(kTuned).load(request(artifact));
    return kernel ? "" : kernel.error().code;
  }

  Graph graph_ = graph_of(
      "graph(%x: f32[1,8,9,9], %r: f32[1,24,9,9], %w: f32[24,8,3,3], %wb: f32[24]) -> (%y) { %c: f32[1,24,9,9] = "
      "Conv(%x, %w, %wb) {pads=[1,1,1,1]} %y: f32[1,24,9,9] = Add(%c, %r) }");
};

/// One that begins anew finds the records of the first.
TEST_F(TvmArtifact, IsTheSameFromRecords) {
  const Artifact artifact = artifact_of(kTuned, graph_);
  ASSERT_TRUE(std::filesystem::exists(records()));
  std::size_t kernels = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(records()))
    kernels += entry.path().filename().string().ends_with("-4") ? 1U : 0U;
  EXPECT_EQ(kernels, 1U);
  const auto again = compiled(loading(kTuned), graph_);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, artifact);
  EXPECT_EQ(artifact.constants.size(), 2U);
  EXPECT_EQ(load_error(artifact), "");
}

TEST_F(TvmArtifact, DoesNotDependOnWeights) {
  const Artifact artifact = artifact_of(kTuned, graph_);
  Graph other = graph_;
  for (Value& value : other.values)
    if (value.constant)
      value.constant = make_tensor(ElementType::kFloat32, value.constant->extents,
                                   std::vector<float>(static_cast<std::size_t>(value.constant->size()), 0.25F));
  EXPECT_EQ(artifact_of(kTuned, other), artifact);
}

TEST_F(TvmArtifact, IsRefusedWhenForeign) {
  Artifact artifact = artifact_of(kTuned, graph_);
  artifact.compatibility = "host/1";
  EXPECT_EQ(load_error(artifact), "backend/incompatible-artifact");
}

TEST_F(TvmArtifact, IsRefusedWhenDamaged) {
  const Artifact whole = artifact_of(kTuned, graph_);
  for (std::size_t length = 0; length < whole.bytes.size(); length += 97) {
    Artifact artifact = whole;
    artifact.bytes.resize(length);
    EXPECT_EQ(load_error(artifact), "backend/bad-artifact") << length;
  }
}

TEST_F(TvmArtifact, IsRefusedWhenItReachesOutsideItsPorts) {
  const Artifact whole = artifact_of(kTuned, graph_);
  const std::vector<std::pair<std::string, std::string>> changes = {{"[1,9,9,8]", "[1,9,9,9]"},
                                                                    {"[1,9,9,8]", "[1,9,9,-8]"},
                                                                    {"[\"input\",0]", "[\"input\",7]"},
                                                                    {"[\"output\",0]", "[\"input\",0]"},
                                                                    {"[\"input\",0]", "[\"scratch\",64]"},
                                                                    {"[\"input\",0]", "[\"attic\",0]"},
                                                                    {"\"steps\":[3,1,9,72]", "\"steps\":[3,1,9,73]"},
                                                                    {"\"kernel\":\"k", "\"kernel\":\"q"}};
  for (const auto& [from, to] : changes) {
    Artifact artifact = whole;
    const std::size_t at = artifact.bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << artifact.bytes.substr(0, 2000);
    artifact.bytes.replace(at, from.size(), to);
    EXPECT_EQ(load_error(artifact), "backend/bad-artifact") << to;
  }
}

TEST_F(TvmArtifact, NeedsItsConstants) {
  const Artifact artifact = artifact_of(kTuned, graph_);
  LoadRequest wanting = request(artifact);
  wanting.constants.pop_back();
  EXPECT_EQ(loading(kTuned).load(wanting).error().code, "backend/bad-artifact");
}

TEST_F(TvmArtifact, IsPreparedOnce) {
  const Artifact artifact = artifact_of(kTuned, graph_);
  const LoadRequest first = request(artifact);
  const std::vector<MaybePrepared> made = prepare_constants(loading(kTuned), {&first, 1});
  ASSERT_TRUE(made[0] && *made[0]);
  LoadRequest second = prepared_request(first, **made[0]);
  EXPECT_TRUE(loading(kTuned).load(second));
  const std::vector<MaybePrepared> again = prepare_constants(loading(kTuned), {&second, 1});
  ASSERT_TRUE(again[0]);
  EXPECT_FALSE(*again[0]);
  second.constants.pop_back();
  EXPECT_EQ(loading(kTuned).load(second).error().code, "backend/bad-artifact");
}

}  // namespace
}  // namespace collage::test
