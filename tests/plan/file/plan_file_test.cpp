#include "plan/file/plan_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "base/json_numbers.h"
#include "plan/file/plan_json.h"
#include "plan/file/zip.h"
#include "tests/plan/plan_fixture.h"
#include "tests/support/flipped_file.h"
#include "tests/support/long_run.h"
#include "tests/support/whole_file.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

RealisedPlan rich_realised() {
  RealisedPlan plan = rich_sketch().realise().value();
  const std::string onnx = "the graph as onnx";
  plan.onnx = Buffer::copy_of(std::as_bytes(std::span(onnx)));
  plan.plan = with_checksums(plan);
  return plan;
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
  const std::string whole = test::read_all(folder.file("x.collage"));
  for (std::size_t size = 0; size < whole.size(); size += size < 100 || size + 200 > whole.size() ? 1 : 997) {
    spit(folder.file("cut.collage"), whole.substr(0, size));
    EXPECT_FALSE(load_plan(folder.file("cut.collage"))) << size;
  }
}

TEST(PlanFile, GivesThePlanOrAnErrorWhicheverByteIsFlipped) {
  const Folder folder;
  const std::string path = folder.file("x.collage");
  const RealisedPlan plan = rich_realised();
  ASSERT_TRUE(save_plan(plan, path));
  const std::string whole = test::read_all(path);
  FlippedFile file(path);
  std::map<std::string, std::size_t> codes;
  const auto stride = test::by_length<std::size_t>(3, 1);
  for (std::size_t at = 0; at < whole.size(); at += stride) {
    file.flip(at, static_cast<char>(1 << at % 8));
    const auto loaded = load_plan(path);
    ++codes[loaded ? "" : loaded.error().code];
    if (loaded) {
      ASSERT_EQ(*loaded, plan) << at;
    }
    file.flip(at, static_cast<char>(1 << at % 8));
  }
  EXPECT_THAT(codes, testing::UnorderedElementsAre(testing::Key(""), testing::Key("plan/damaged"),
                                                   testing::Key("zip/damaged")));
  EXPECT_GT(stride * codes["plan/damaged"], test::read_all(path).find("PK\1\2") / 8) << "texts, weights and artifacts";
}

TEST(PlanFile, NamesWhatHasOtherBytes) {
  const Folder folder;
  const std::string path = folder.file("x.collage");
  const RealisedPlan plan = rich_realised();
  ASSERT_TRUE(save_plan(plan, path));
  const std::string whole = test::read_all(path);
  const auto saw_after = [&](std::size_t at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    spit(path, changed);
    const auto loaded = load_plan(path);
    return loaded ? "" : loaded.error().saw;
  };
  EXPECT_THAT(saw_after(whole.find("artifact of d")), testing::HasSubstr("artifact"));
  EXPECT_THAT(saw_after(whole.find("the graph as onnx")), testing::HasSubstr("plan.onnx"));
  EXPECT_THAT(saw_after(whole.find("collage.plan/1")), testing::HasSubstr("plan.json"));
  const std::string weight(plan.constants.begin()->second.data.text());
  EXPECT_THAT(saw_after(whole.find(weight)), testing::HasSubstr("constant '"));
}

/// The plan of a file as builds without checksums of constants wrote it.
void drop_checksums(const std::string& path) {
  const auto members = read_zip(Buffer::map_file(path).value(), path).value();
  nlohmann::json object = nlohmann::json::parse(members.front().data.text());
  for (auto& value : object["values"]) value.erase("checksum");
  const std::string text = object.dump();
  std::vector<ZipSource> sources;
  for (const ZipMember& one : members)
    sources.push_back({.name = one.name, .parts = {one.data.bytes()}, .alignment = 4096});
  sources.front().parts = {std::as_bytes(std::span(text))};
  const int descriptor = ::open((path + ".old").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  EXPECT_TRUE(write_zip(descriptor, sources, path));
  ::close(descriptor);
  fs::rename(path + ".old", path);
}

TEST(PlanFile, ChecksTheWeightsOfPlansWithoutChecksumsToo) {
  const Folder folder;
  const std::string path = folder.file("x.collage");
  const RealisedPlan plan = rich_realised();
  ASSERT_TRUE(save_plan(plan, path));
  drop_checksums(path);
  const auto loaded = load_plan(path, Checked::kWhatRuns);
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_EQ(loaded->constants, plan.constants);
  std::string whole = test::read_all(path);
  whole[whole.find(plan.constants.begin()->second.data.text())] ^= 1;
  spit(path, whole);
  const auto damaged = load_plan(path, Checked::kWhatRuns);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, "plan/damaged");
  EXPECT_THAT(damaged.error().saw, testing::HasSubstr("weights.bin"));
}

TEST(PlanFile, LooksAtWhatStepsReadWhenItIsToRun) {
  const Folder folder;
  const std::string path = folder.file("x.collage");
  Sketch sketch;
  const ValueId x = sketch.input("x");
  const ValueId used = sketch.constant("used", {7}, 1.5F);
  const ValueId kept = sketch.constant("kept", {5}, -2.5F);
  sketch.output(sketch.step("y", {x, used}));
  RealisedPlan plan = sketch.realise({kept}).value();
  ASSERT_TRUE(save_plan(plan, path));
  const std::string whole = test::read_all(path);
  const auto damage = [&](float value) {
    std::string changed = whole;
    const std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
    changed[changed.find(bytes + bytes)] ^= 1;
    spit(path, changed);
  };
  damage(-2.5F);
  EXPECT_TRUE(load_plan(path, Checked::kWhatRuns));
  EXPECT_FALSE(load_plan(path));
  damage(1.5F);
  EXPECT_FALSE(load_plan(path, Checked::kWhatRuns));
}

TEST(PlanFile, SaysThatAModelIsNoPlan) {
  const Folder folder;
  const std::string path = folder.file("net.onnx");
  spit(path, std::string("\x08\x08\x3a\x02\x0a\x00", 6));
  const auto loaded = load_plan(path);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, "plan/is-a-model");
  EXPECT_THAT(loaded.error().allowed, testing::HasSubstr("collage tune " + path + " -o net.collage"));
}

TEST(PlanFile, RefusesAPlanOfAnotherVersion) {
  const Folder folder;
  const std::string path = folder.file("x.collage");
  ASSERT_TRUE(save_plan(rich_realised(), path));
  std::string whole = test::read_all(path);
  const std::size_t schema = whole.find("collage.plan/1");
  whole[schema + 13] = '9';
  spit(path, whole);
  // The checksum goes first: a plan of another version is only believed when it is intact.
  EXPECT_EQ(load_plan(path).error().code, "plan/damaged");
}

}  // namespace
}  // namespace collage
