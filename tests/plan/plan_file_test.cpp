#include "plan/plan_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <fstream>

#include "plan/plan_json.h"
#include "plan_fixture.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

RealisedPlan rich_realised() {
  RealisedPlan plan = rich_sketch().realise().value();
  const std::string onnx = "the graph as onnx";
  plan.onnx = Buffer::copy_of(std::as_bytes(std::span(onnx)));
  return plan;
}

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void spit(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

TEST(PlanFile, ReadsBackWhatItSaves) {
  const Folder folder;
  const RealisedPlan plan = rich_realised();
  const auto saved = save_plan(plan, folder.file("x.collage"));
  ASSERT_TRUE(saved) << to_string(saved.error());
  const auto loaded = load_plan(folder.file("x.collage"));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_EQ(*loaded, plan);
  EXPECT_TRUE(check_contents(folder.file("x.collage")));
  for (const auto& [index, tensor] : loaded->constants)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data.data()) % 64, 0U);
}

TEST(PlanFile, LeavesNoTemporaryAndReplacesAnOldFile) {
  const Folder folder;
  spit(folder.file("x.collage"), "old");
  ASSERT_TRUE(save_plan(rich_realised(), folder.file("x.collage")));
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("x.collage"));
  EXPECT_TRUE(load_plan(folder.file("x.collage")));
}

TEST(PlanFile, RemovesTemporariesOfKilledRunsButNotOfLivingOnes) {
  const Folder folder;
  spit(folder.file(".x.collage.collage-temporary.1.0"), "stale");
  spit(folder.file(".y.collage.collage-temporary.1.0"), "of another plan");
  const std::string alive = folder.file(".x.collage.collage-temporary.2.0");
  spit(alive, "being written");
  const int descriptor = ::open(alive.c_str(), O_RDWR);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  ASSERT_TRUE(check_can_save(folder.file("x.collage")));
  EXPECT_THAT(names_in(folder.path()),
              testing::UnorderedElementsAre(".x.collage.collage-temporary.2.0", ".y.collage.collage-temporary.1.0"));
  ::close(descriptor);
}

TEST(PlanFile, SaysBeforehandWhenItCannotBeWritten) {
  const Folder folder;
  EXPECT_EQ(check_can_save(folder.file("missing/x.collage")).error().code, "io/cannot-write");
  EXPECT_EQ(check_can_save(folder.path().string()).error().code, "io/cannot-write");
  const auto saved = save_plan(rich_realised(), folder.file("missing/x.collage"));
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().exit, ExitCode::kIo);
}

TEST(PlanFile, RefusesMissingAndForeignFiles) {
  const Folder folder;
  EXPECT_EQ(load_plan(folder.file("none.collage")).error().code, "io/cannot-read");
  spit(folder.file("empty.collage"), "");
  EXPECT_EQ(load_plan(folder.file("empty.collage")).error().code, "zip/damaged");
  spit(folder.file("text.collage"), std::string(3000, 'x'));
  EXPECT_EQ(load_plan(folder.file("text.collage")).error().code, "zip/damaged");
}

TEST(PlanFile, RefusesEveryPrefix) {
  const Folder folder;
  ASSERT_TRUE(save_plan(rich_realised(), folder.file("x.collage")));
  const std::string whole = slurp(folder.file("x.collage"));
  for (std::size_t size = 0; size < whole.size(); size += size < 100 || size + 200 > whole.size() ? 1 : 997) {
    spit(folder.file("cut.collage"), whole.substr(0, size));
    EXPECT_FALSE(load_plan(folder.file("cut.collage"))) << size;
  }
}

TEST(PlanFile, SurvivesEveryFlippedByteOfItsDirectoryAndPlan) {
  const Folder folder;
  ASSERT_TRUE(save_plan(rich_realised(), folder.file("x.collage")));
  const std::string whole = slurp(folder.file("x.collage"));
  const std::size_t directory = whole.size() - 900;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += at >= directory ? 2 : 499) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    spit(folder.file("flipped.collage"), changed);
    const auto loaded = load_plan(folder.file("flipped.collage"));
    if (!loaded) ++refused;
    if (loaded) {
      EXPECT_TRUE(verify(loaded->plan)) << at;
    }
  }
  EXPECT_GT(refused, 100U);
}

TEST(PlanFile, FindsChangedWeightsAndArtifactsWhenAsked) {
  const Folder folder;
  const std::string path = folder.file("x.collage");
  ASSERT_TRUE(save_plan(rich_realised(), path));
  std::string whole = slurp(path);
  const std::size_t artifact = whole.find("artifact of d");
  ASSERT_NE(artifact, std::string::npos);
  whole[artifact] = 'A';
  spit(path, whole);
  EXPECT_TRUE(load_plan(path));
  const auto checked = check_contents(path);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, "plan/damaged");
}

TEST(PlanFile, RefusesAPlanOfAnotherVersion) {
  const Folder folder;
  const std::string path = folder.file("x.collage");
  ASSERT_TRUE(save_plan(rich_realised(), path));
  std::string whole = slurp(path);
  const std::size_t schema = whole.find("collage.plan/1");
  whole[schema + 13] = '9';
  spit(path, whole);
  // The checksum goes first: a plan of another version is only believed when it is intact.
  EXPECT_EQ(load_plan(path).error().code, "plan/damaged");
}

}  // namespace
}  // namespace collage
