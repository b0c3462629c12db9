// What the program says about models, plans and inputs that it cannot take, and what it leaves behind: nothing.
#include <fcntl.h>
#include <unistd.h>

#include "onnx/files/tensor_file.h"
#include "plan/file/zip.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/onnx/model_text.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A model that is wrong, and what every command that reads models says about it.
struct BadModel {
  std::string file;
  int exit_code;
  std::string code;
  std::string about;
};

class BadModelTest : public CliTest {
 protected:
  /// Expects the same verdict from check, run and tune, and no plan afterwards.
  void expect_refused(const BadModel& bad, const std::vector<std::string>& more = {}) const {
    SCOPED_TRACE(bad.file);
    const std::vector<std::string> before = names();
    const std::vector<std::vector<std::string>> commands = {
        {"check", bad.file, "--dump", "graph"}, {"run", bad.file}, quick_tune(bad.file, file("out.collage"))};
    for (std::vector<std::string> command : commands) {
      command.insert(command.end(), more.begin(), more.end());
      SCOPED_TRACE(command.front());
      expect_error(run(command), bad.exit_code, bad.code, bad.about);
    }
    EXPECT_EQ(names(), before);
    EXPECT_THAT(temporaries(), IsEmpty());
  }
};

TEST_F(BadModelTest, IsNoModel) {
  const std::string whole = small_network();
  std::filesystem::create_directory(file("folder.onnx"));
  expect_refused({file("none.onnx"), 6, "import/not-found", "none.onnx"});
  expect_refused({file("folder.onnx"), 3, "import/not-a-file", "folder.onnx"});
  expect_refused({given("text.onnx", "This is no model.\n"), 3, "import/not-onnx", "text.onnx"});
  expect_refused({given("empty.onnx", ""), 3, "import/empty", "empty.onnx"});
  expect_refused({given("cut.onnx", whole.substr(0, whole.size() / 2)), 3, "import/truncated", "cut.onnx"});
}

TEST_F(BadModelTest, HasAnUnknownOperator) {
  expect_refused({given("operator.onnx", with_operator("Sponge", "")), 4, "import/unknown-operator", "Sponge"});
  expect_refused(
      {given("domain.onnx", with_operator("Sponge", "org.nowhere")), 4, "import/unknown-operator", "org.nowhere"});
}

TEST_F(BadModelTest, HasNamesThatAreNoText) {
  std::string bytes = doubling();
  const std::size_t name = bytes.find("Add");
  ASSERT_NE(name, std::string::npos);
  bytes[name] = '\xff';
  expect_refused({given("bytes.onnx", bytes), 3, "import/invalid-model", "op_type"});
}

TEST_F(BadModelTest, HasADimensionThatNobodyBound) {
  const std::string model = given("open.onnx", doubling_with_open_dimension());
  expect_refused({model, 3, "import/unbound-dimension", "x[N,4]"});
  expect_refused({model, 2, "import/unknown-binding", "M"}, {"--shape", "M=3"});
  const Ended checked = run({"check", model});
  expect_good(checked);
  EXPECT_THAT(checked.out, ::testing::HasSubstr("open     N: --shape N=8"));
  expect_good(run({"run", model, "--shape", "N=3"}));
}

TEST_F(BadModelTest, NeedsMoreMemoryThanThereIs) {
  const std::string model = given("open.onnx", doubling_with_open_dimension());
  const Ended ended = run({"run", model, "--shape", "N=99999999999"});
  expect_error(ended, 5, "input/too-large", "x");
}

class BadPlanTest : public CliTest {
 protected:
  /// Expects the same verdict from run, verify and bench.
  void expect_refused(const std::string& plan, int exit_code, const std::string& code) const {
    SCOPED_TRACE(plan);
    for (const std::string command : {"run", "verify", "bench"}) {
      SCOPED_TRACE(command);
      expect_error(run({command, plan}), exit_code, code, plan);
    }
    EXPECT_THAT(temporaries(), IsEmpty());
  }

  /// The bytes of a plan of the doubling model.
  std::string plan_bytes() const {
    const std::string model = given("model.onnx", doubling());
    const Ended tuned = run(quick_tune(model, file("good.collage"), {"--only", "onnxruntime"}));
    EXPECT_EQ(tuned.exit_code, 0) << describe(tuned);
    return read_all(file("good.collage"));
  }

  /// good.collage with another schema in plan.json, its checksum right.
  std::string of_another_version() const {
    const Result<Buffer> whole = Buffer::map_file(file("good.collage"));
    const auto members = read_zip(*whole, "good.collage");
    std::string json(members->front().data.text());
    const std::size_t version = json.find("collage.plan/1");
    EXPECT_NE(version, std::string::npos);
    json[version + 13] = '9';
    std::vector<ZipSource> sources;
    for (const ZipMember& member : *members)
      sources.push_back({.name = member.name, .parts = {member.data.bytes()}, .alignment = 64});
    sources.front().parts = {std::as_bytes(std::span(json))};
    const std::string path = file("version.collage");
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_TRUE(write_zip(descriptor, sources, path));
    ::close(descriptor);
    return path;
  }
};

TEST_F(BadPlanTest, IsNoPlan) {
  std::filesystem::create_directory(file("folder.collage"));
  expect_refused(file("none.collage"), 6, "io/cannot-read");
  expect_refused(file("folder.collage"), 6, "io/cannot-read");
  const std::string text = given("text.collage", "This is no plan.\n");
  expect_refused(text, 3, "zip/damaged");
  EXPECT_THAT(run({"explain", text}).err, ::testing::HasSubstr("allowed a whole plan, as collage tune writes it"));
  expect_refused(given("empty.collage", ""), 3, "zip/damaged");
}

TEST_F(BadPlanTest, IsDamagedOrOfAnotherVersion) {
  const std::string whole = plan_bytes();
  ASSERT_GT(whole.size(), 2000U);
  expect_refused(given("cut.collage", whole.substr(0, whole.size() / 2)), 3, "zip/damaged");
  std::string changed = whole;
  const std::size_t key = changed.find("\"threads\"");
  ASSERT_NE(key, std::string::npos);
  changed[key + 1] = 'T';
  expect_refused(given("changed.collage", changed), 3, "plan/damaged");
  expect_refused(of_another_version(), 3, "plan/wrong-version");
}

TEST_F(BadPlanTest, NeedsABackendThatIsNotHere) {
  const std::string whole = plan_bytes();
  // A folder of modules without the one that the plan needs stands for another machine.
  const std::filesystem::path prefix = file("prefix");
  std::filesystem::create_directories(prefix / "bin");
  std::filesystem::create_directories(prefix / "lib/collage");
  const std::filesystem::path build = test::build_path();
  std::filesystem::copy_file(build / "bin/collage", prefix / "bin/collage");
  for (const auto& entry : std::filesystem::directory_iterator(build / "lib"))
    if (entry.is_regular_file())
      std::filesystem::create_symlink(entry.path(), prefix / "lib" / entry.path().filename());
  std::filesystem::copy_file(build / "lib/collage/libcollage_backend_host.so",
                             prefix / "lib/collage/libcollage_backend_host.so");
  Program program(home(), {"run", file("good.collage")}, prefix / "bin/collage");
  expect_error(program.wait(), 4, "plan/missing-backend", "onnxruntime");
}

class BadTensorTest : public CliTest {
 protected:
  BadTensorTest() : model_(given("model.onnx", doubling())) {}

  /// Runs with a file for x, whose bytes these are.
  Ended run_with(const std::string& name, const std::string& bytes) const {
    return run({"run", model_, "--input", "x=" + given(name, bytes), "--output-dir", file("out")});
  }
  std::string npy(const Tensor& tensor) const {
    EXPECT_TRUE(write_npy(file("whole.npy"), tensor));
    return read_all(file("whole.npy"));
  }

  std::string model_;
};

TEST_F(BadTensorTest, HasAnotherNameTypeOrShape) {
  const std::string good = npy(ramp({2, 3}));
  expect_error(run({"run", model_, "--input", "z=" + file("whole.npy")}), 2, "input/unknown-name", "z");
  expect_error(run_with("shape.npy", npy(ramp({3, 2}))), 3, "input/wrong-shape", "f32[3,2]");
  const Tensor integers = make_tensor(ElementType::kInt32, {2, 3}, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  expect_error(run_with("type.npy", npy(integers)), 3, "input/wrong-type", "i32");
  EXPECT_FALSE(std::filesystem::exists(file("out")));
  expect_good(run_with("good.npy", good));
}

TEST_F(BadTensorTest, IsDamaged) {
  const std::string whole = npy(ramp({2, 3}));
  expect_error(run({"run", model_, "--input", "x=" + file("none.npy")}), 6, "tensor/not-found", "none.npy");
  expect_error(run_with("empty.npy", ""), 3, "tensor/cannot-read", "empty.npy");
  expect_error(run_with("text.npy", "no array at all"), 3, "tensor/malformed", "text.npy");
  expect_error(run_with("cut.npy", whole.substr(0, whole.size() - 5)), 3, "tensor/malformed", "cut.npy");
  expect_error(run_with("head.npy", whole.substr(0, 20)), 3, "tensor/malformed", "head.npy");
  std::string version = whole;
  version[6] = 9;
  expect_error(run_with("version.npy", version), 3, "tensor/malformed", "version.npy");
  std::string huge = whole;
  // The header is padded with blanks, so that its length stays.
  const std::string shape = "(99999999999, 99999999)";
  huge.replace(huge.find("(2, 3), }"), shape.size() + 3, shape + ", }");
  expect_error(run_with("huge.npy", huge), 3, "tensor/malformed", "huge.npy");
  expect_error(run_with("other.pb", whole), 3, "tensor/malformed", "other.pb");
  EXPECT_FALSE(std::filesystem::exists(file("out")));
}

}  // namespace
}  // namespace collage::testing
