#include "store/artifact_file.h"

#include <fstream>

#include "tests/measure/measure_fixture.h"

namespace collage {
namespace {

const std::vector<ValueId> kConstants = {ValueId{7}, ValueId{3}, ValueId{9}};

Artifact sample() {
  return {.bytes = std::string("engine\0bytes", 12),
          .compatibility = "lib 1.2",
          .constants = {ValueId{9}, ValueId{7}},
          .in_place = {{0, 1}, {2, 0}},
          .workspace_bytes = 4096};
}

TEST(ArtifactFile, ReadsBackWhatWasWritten) {
  const auto bytes = serialise(sample(), kConstants);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(deserialise(*bytes, kConstants), sample());
}

TEST(ArtifactFile, ConstantsArePositionsSoAnotherPlaceCanUseIt) {
  const auto bytes = serialise(sample(), kConstants);
  const std::vector<ValueId> elsewhere = {ValueId{100}, ValueId{101}, ValueId{102}};
  const auto artifact = deserialise(*bytes, elsewhere);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->constants, (std::vector<ValueId>{ValueId{102}, ValueId{100}}));
  EXPECT_EQ(deserialise(*bytes, std::span(elsewhere).first(2)).error().code, "artifact/malformed");
}

TEST(ArtifactFile, RefusesConstantsOfOtherRegions) {
  EXPECT_EQ(serialise(sample(), std::span(kConstants).first(2)).error().code, "artifact/foreign-constant");
}

TEST(ArtifactFile, TruncatedHeadersAreMalformed) {
  const std::string bytes = *serialise(sample(), kConstants);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(deserialise(std::string_view(bytes).substr(0, length), kConstants)) << length;
}

TEST(ArtifactFile, FileIsNamedByItsContent) {
  const test::ScratchFolder folder;
  const auto hash = write_artifact(folder.file(""), sample(), kConstants);
  ASSERT_TRUE(hash);
  EXPECT_EQ(write_artifact(folder.file(""), sample(), kConstants), *hash);
  EXPECT_EQ(read_artifact(folder.file(""), *hash, kConstants), sample());
  Artifact other = sample();
  other.workspace_bytes = 1;
  EXPECT_NE(write_artifact(folder.file(""), other, kConstants), *hash);
}

TEST(ArtifactFile, DamagedFileCountsAsMissingAndCanBeWrittenAgain) {
  const test::ScratchFolder folder;
  const std::string hash = *write_artifact(folder.file(""), sample(), kConstants);
  {
    std::fstream file(folder.file(hash), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('X');
  }
  EXPECT_EQ(read_artifact(folder.file(""), hash, kConstants).error().code, "artifact/missing");
  EXPECT_EQ(write_artifact(folder.file(""), sample(), kConstants), hash);
  EXPECT_EQ(read_artifact(folder.file(""), hash, kConstants), sample());
}

TEST(ArtifactFile, FolderThatIsNotThereIsAnError) {
  EXPECT_EQ(write_artifact("/nonexistent/folder", sample(), kConstants).error().code, "artifact/cannot-write");
}

}  // namespace
}  // namespace collage
