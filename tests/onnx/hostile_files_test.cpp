// Files made to end, hang or fool an import: each is refused with the code and the place that the catalogue states.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/onnx/model_text.h"
#include "tests/support/child_tasks.h"
#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"

namespace collage::testing {
namespace {

struct HostileCase {
  std::string path;
  std::string codes;  ///< separated by "|"
  std::string part;   ///< of the message; several, of which one must occur, are separated by "|"
  std::string limits;
};

std::vector<HostileCase> hostile_cases() {
  std::vector<HostileCase> cases;
  std::ifstream file(test::hostile_cases_path("/cases.txt"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    HostileCase& one = cases.emplace_back();
    std::getline(fields, one.path, '\t');
    std::getline(fields, one.codes, '\t');
    std::getline(fields, one.part, '\t');
    std::getline(fields, one.limits, '\t');
  }
  return cases;
}

/// The code and the message, or "ok".
std::string imported_answer(const HostileCase& one) {
  ImportOptions options{.allow_unbound = true};
  if (!one.limits.empty())
    if (const auto set = set_limit(options.limits, one.limits); !set) return to_string(set.error());
  const auto imported = import_model(test::hostile_cases_path("/" + one.path), options);
  return imported ? "ok ok" : imported.error().code + " " + to_string(imported.error());
}

std::string problem_of(const HostileCase& expected, const ChildAnswer& answer) {
  if (answer.end == ChildAnswer::End::kDied) return "died: " + answer.text;
  if (answer.end == ChildAnswer::End::kHung) return "hung: " + answer.text;
  const std::string code = answer.text.substr(0, answer.text.find(' '));
  if (("|" + expected.codes + "|").find("|" + code + "|") == std::string::npos)
    return "expected " + expected.codes + ", got " + answer.text;
  if (code == "ok") return {};
  std::istringstream parts(expected.part);
  for (std::string part; std::getline(parts, part, '|');)
    if (answer.text.find(part) != std::string::npos) return {};
  return expected.part.empty() ? "" : "expected '" + expected.part + "' in " + answer.text;
}

TEST(HostileFiles, EndWithTheCodeAndThePlaceThatTheCatalogueStates) {
  const std::vector<HostileCase> cases = hostile_cases();
  if (cases.empty()) GTEST_SKIP() << "no catalogue in " << test::hostile_cases_path();
  EXPECT_GE(cases.size(), 600U);
  const auto answers = answers_of_children(cases.size(), {}, [&](std::size_t i) { return imported_answer(cases[i]); });
  ASSERT_EQ(answers.size(), cases.size());
  double slowest = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(problem_of(cases[i], answers[i]), "") << cases[i].path;
    slowest = std::max(slowest, answers[i].seconds);
  }
  RecordProperty("slowest_seconds", std::to_string(slowest));
}

/// A model whose weights lie in `location`, in a folder of its own.
class ExternalFileTest : public ::testing::Test {
 protected:
  Result<Imported> import_of(const std::string& location, const std::string& offset = "0") {
    auto model = model_of(
        R"(<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) })");
    auto& tensor = *model.mutable_graph()->mutable_initializer(0);
    tensor.clear_float_data();
    tensor.clear_raw_data();
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    auto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value(location);
    auto& from = *tensor.add_external_data();
    from.set_key("offset");
    from.set_value(offset);
    std::filesystem::create_directories(folder_ / "model");
    std::ofstream(folder_ / "model" / "model.onnx", std::ios::binary) << bytes_of(model);
    return import_model((folder_ / "model" / "model.onnx").string());
  }
  void write_weights(const std::filesystem::path& path) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << std::string(8, '\0');
  }

  test::ScratchFolder scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

TEST_F(ExternalFileTest, MayBeALinkThatStaysInTheFolder) {
  write_weights(folder_ / "model" / "weights.bin");
  std::filesystem::create_symlink("weights.bin", folder_ / "model" / "link.bin");
  EXPECT_EQ(code_of(import_of("link.bin")), "ok");
}

TEST_F(ExternalFileTest, IsNotReadThroughALinkThatLeavesTheFolder) {
  write_weights(folder_ / "outside" / "secret.bin");
  std::filesystem::create_directories(folder_ / "model");
  std::filesystem::create_symlink("../outside/secret.bin", folder_ / "model" / "link.bin");
  EXPECT_EQ(code_of(import_of("link.bin")), "import/external-data");
  std::filesystem::create_directory_symlink("../outside", folder_ / "model" / "inside");
  EXPECT_EQ(code_of(import_of("inside/secret.bin")), "import/external-data");
}

TEST_F(ExternalFileTest, IsNotReadUnderASecondName) {
  write_weights(folder_ / "outside" / "secret.bin");
  std::filesystem::create_directories(folder_ / "model");
  std::filesystem::create_hard_link(folder_ / "outside" / "secret.bin", folder_ / "model" / "weights.bin");
  const auto imported = import_of("weights.bin");
  ASSERT_EQ(code_of(imported), "import/external-data");
  EXPECT_THAT(imported.error().saw, ::testing::HasSubstr("several names"));
}

TEST_F(ExternalFileTest, IsNoPipeAndNoDevice) {
  std::filesystem::create_directories(folder_ / "model");
  ASSERT_EQ(::mkfifo((folder_ / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(code_of(import_of("pipe")), "import/external-data");
  std::filesystem::create_symlink("/dev/zero", folder_ / "model" / "zeros");
  EXPECT_EQ(code_of(import_of("zeros")), "import/external-data");
}

TEST_F(ExternalFileTest, IsReadBeyondFourGibibytes) {
  constexpr std::uintmax_t kOffset = std::uintmax_t{5} << 30;
  std::filesystem::create_directories(folder_ / "model");
  std::ofstream(folder_ / "model" / "weights.bin").close();
  std::filesystem::resize_file(folder_ / "model" / "weights.bin", kOffset + 8);  // a hole
  EXPECT_EQ(code_of(import_of("weights.bin", std::to_string(kOffset))), "ok");
  EXPECT_EQ(code_of(import_of("weights.bin", std::to_string(kOffset + 1))), "import/external-data");
}

TEST(HostileFiles, AreRefusedAtTheByteThatIsWrong) {
  const std::string model = opset_model(13, "g (float[2] x) => (float[2] y) { y = Relu(x) }");
  const auto grouped = import_with(model + "\xf3\x01");  // opens group 30
  ASSERT_EQ(code_of(grouped), "import/not-onnx");
  EXPECT_THAT(grouped.error().where, ::testing::HasSubstr("byte " + std::to_string(model.size())));
  EXPECT_THAT(grouped.error().saw, ::testing::HasSubstr("group"));
}

TEST(ImportLimits, AreNamedByTheErrorThatRefuses) {
  const std::string bytes = opset_model(13, "g (float[2] x) => (float[2] y) { a = Relu(x) b = Relu(a) y = Relu(b) }");
  ImportOptions options;
  ASSERT_TRUE(set_limit(options.limits, "nodes=2"));
  const auto imported = import_model(bytes, "", options);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, "import/limit");
  EXPECT_EQ(imported.error().exit, ExitCode::kLimit);
  EXPECT_THAT(imported.error().allowed, ::testing::HasSubstr("--limit nodes=N"));
  EXPECT_EQ(code_of(set_limit(options.limits, "nodes=3")), "ok");
  EXPECT_EQ(code_of(import_model(bytes, "", options)), "ok");
}

TEST(ImportLimits, AreSetByNameAndNumber) {
  ImportLimits limits;
  for (const char* bad : {"nodes", "nodes=", "nodes=0", "nodes=-1", "nodes=1x", "node=3", "=3", "depth=100000", ""})
    EXPECT_EQ(code_of(set_limit(limits, bad)), "cli/bad-option") << bad;
  EXPECT_EQ(limits, ImportLimits{});
  for (const ImportLimit& one : import_limits()) EXPECT_LE(limits.*one.value, one.most) << one.name;
}

}  // namespace
}  // namespace collage::testing
