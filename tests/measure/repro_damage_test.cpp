// Whatever lies in a folder that is called a bundle: a clear error or a bundle, never anything else.
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>

#include "onnx/files/tensor_file.h"
#include "tests/measure/repro_fixture.h"
#include "tests/support/whole_file.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

using test::read_all;

void write_all(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class ReproDamage : public ::testing::Test, protected test::ReproLab {
 protected:
  void SetUp() override {
    bundle_ = bundle_of("test:fault=run-wrong");
    ASSERT_TRUE(read_bundle(bundle_));
  }

  /// Changes repro.json of a copy and reads that.
  Error after(const std::function<void(nlohmann::json&)>& change) {
    auto json = nlohmann::json::parse(read_all(bundle_ + "/repro.json"));
    change(json);
    const std::string copy = fresh_copy();
    write_all(copy + "/repro.json", json.dump());
    return error_of(copy);
  }

  std::string fresh_copy() {
    std::string copy = folder.file("copy" + std::to_string(copies_++));
    fs::copy(bundle_, copy, fs::copy_options::recursive);
    return copy;
  }

  static Error error_of(const std::string& path) {
    const auto read = read_bundle(path);
    EXPECT_FALSE(read) << path;
    if (read) return {};
    EXPECT_EQ(read.error().exit, ExitCode::kBadInput) << to_string(read.error());
    EXPECT_TRUE(read.error().code.starts_with("repro/")) << to_string(read.error());
    return read.error();
  }

  std::string bundle_;
  int copies_ = 0;
};

TEST_F(ReproDamage, FolderThatIsNone) {
  EXPECT_EQ(error_of(folder.file("absent")).code, "repro/no-folder");
  EXPECT_EQ(error_of(bundle_ + "/repro.json").code, "repro/no-folder");
  fs::create_directory(folder.file("empty"));
  EXPECT_EQ(error_of(folder.file("empty")).code, "repro/damaged");
}

TEST_F(ReproDamage, EveryKeyIsNeeded) {
  const auto json = nlohmann::json::parse(read_all(bundle_ + "/repro.json"));
  for (const auto& [key, value] : json.items()) {
    if (key == "command") continue;  // for people
    // Bundles written before there were labels have none.
    if (key != "labels") (void)after([&](nlohmann::json& changed) { changed.erase(key); });
    (void)after([&](nlohmann::json& changed) { changed[key] = nlohmann::json::array({nlohmann::json::object()}); });
  }
  (void)after([](nlohmann::json& changed) { changed = nlohmann::json::array(); });
}

TEST_F(ReproDamage, NamesDoNotLeadOutOfTheFolder) {
  write_all(folder.file("outside.npy"), read_all(bundle_ + "/input_0.npy"));
  for (const char* name : {"../outside.npy", "/etc/passwd", "", ".", "..", "sub/input_0.npy"})
    (void)after([&](nlohmann::json& changed) { changed["inputs"][0]["file"] = name; });
  (void)after([&](nlohmann::json& changed) { changed["inputs"][0]["file"] = std::string("input_0.npy\0x", 13); });
  for (const char* backend : {"../../evil", "", "a/b", "test\n", ":fault=x"})
    (void)after([&](nlohmann::json& changed) { changed["backend"]["name"] = backend; });
  const std::string linked = fresh_copy();
  fs::remove(linked + "/input_0.npy");
  fs::create_symlink(folder.file("outside.npy"), linked + "/input_0.npy");
  (void)error_of(linked);
}

TEST_F(ReproDamage, PipesAndFoldersAreNotWaitedFor) {
  for (const char* name : {"repro.json", "region.onnx", "input_0.npy"}) {
    const std::string piped = fresh_copy();
    fs::remove(piped + "/" + name);
    ASSERT_EQ(::mkfifo((piped + "/" + name).c_str(), 0600), 0);
    (void)error_of(piped);
    const std::string folded = fresh_copy();
    fs::remove(folded + "/" + name);
    fs::create_directory(folded + "/" + name);
    (void)error_of(folded);
    const std::string lacking = fresh_copy();
    fs::remove(lacking + "/" + name);
    (void)error_of(lacking);
  }
}

TEST_F(ReproDamage, PartsThatDoNotFitEachOther) {
  (void)after([](nlohmann::json& changed) { changed["schema"] = "collage.repro/2"; });
  (void)after([](nlohmann::json& changed) { changed["variant"]["inputs"].push_back("plain"); });
  (void)after([](nlohmann::json& changed) { changed["inputs"] = nlohmann::json::array(); });
  (void)after([](nlohmann::json& changed) { changed["outputs"][0]["name"] = "another"; });
  (void)after([](nlohmann::json& changed) { changed["options"]["threads"] = 0; });
  (void)after([](nlohmann::json& changed) { changed["options"]["accuracy"] = "guessed"; });
  const nlohmann::json huge = {{"type", "f32[4611686018427387904,4]"},
                               {"from", "plain"},
                               {"to", "channels_last"},
                               {"from_location", "cpu"},
                               {"to_location", "cpu"}};
  (void)after([&](nlohmann::json& changed) { changed["conversion"] = huge; });
  const std::string shape = fresh_copy();
  ASSERT_TRUE(write_npy(shape + "/input_0.npy", test::numbers({300, 2}, 1)));
  (void)error_of(shape);
}

TEST_F(ReproDamage, RandomBytes) {
  const bool is_long = std::getenv("COLLAGE_LONG") != nullptr;
  const std::uint32_t seed = 20260;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 dice(seed);
  const std::vector<std::string> names = {"repro.json", "region.onnx", "input_0.npy", "output_0.npy"};
  std::map<std::string, std::string> sound;
  for (const std::string& name : names) sound[name] = read_all(bundle_ + "/" + name);
  int errors = 0;
  const int count = is_long ? 20'000 : 400;
  for (int i = 0; i < count; ++i) {
    const std::string& name = names[dice() % names.size()];
    std::string bytes = sound[name];
    if (dice() % 4 == 0)
      bytes.resize(dice() % bytes.size());
    else
      for (std::uint32_t flips = 1 + dice() % 3; flips > 0; --flips)
        bytes[dice() % bytes.size()] = static_cast<char>(dice());
    write_all(bundle_ + "/" + name, bytes);
    const auto read = read_bundle(bundle_);
    if (!read) {
      ++errors;
      EXPECT_EQ(read.error().exit, ExitCode::kBadInput) << i << ": " << to_string(read.error());
    }
    write_all(bundle_ + "/" + name, sound[name]);
  }
  EXPECT_GT(errors, count / 10);
  EXPECT_TRUE(read_bundle(bundle_));
}

}  // namespace
}  // namespace collage
