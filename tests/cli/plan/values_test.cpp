// Strings, sequences, optionals and maps, given to the program and written by it: of a bare model, and of a tuned plan.
#include <filesystem>
#include <fstream>

#include "onnx/files/value_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/onnx/model_text.h"
#include "tests/support/paths.h"
#include "tests/support/schema_check.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kInZip = "PK";

/// `a`, `b` string[2] -> `both` string[2], what stands behind each other; `x` float[2,4] -> `y`, positive numbers
/// doubled.
std::string joined_words() {
  return opset_model(20,
                     "words (string[2] a, string[2] b, float[2,4] x) => (string[2] both, float[2,4] y) { "
                     "both = StringConcat (a, b) r = Relu (x) y = Add (r, r) }");
}

/// `s`, a sequence of float[n], and `x` float[3] -> the sequence with x behind it.
std::string appended() {
  return opset_model(
      20, "parts (seq(float[n]) s, float[3] x) => (seq(float[n]) t) { r = Relu (x) t = SequenceInsert (s, r) }");
}

class ValuesTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    if (!std::filesystem::exists(test::build_path("/lib/collage/libcollage_backend_onnxruntime.so")))
      GTEST_SKIP() << "ONNX Runtime is not built";
  }
  [[nodiscard]] std::string text(const std::string& name, const std::string& contents) const {
    std::ofstream(file(name)) << contents;
    return file(name);
  }
  [[nodiscard]] Ended run_words(const std::string& subject, const std::string& a, const std::string& b) const {
    return run({"run", subject, "--input", "a=" + a, "--input", "b=" + b, "--output-dir", file("out")});
  }
  void expect_words_joined(const std::string& subject) const {
    SCOPED_TRACE(subject);
    const Ended ended = run_words(subject, text("a.json", R"(["", "Grü"])"), text("b.json", R"(["one", "ße"])"));
    expect_good(ended);
    EXPECT_THAT(ended.out, HasSubstr("both: str[2]\n  \"one\" \"Grüße\""));
    const auto both = read_value(file("out/output_0.json"), *parse_value_type("str[2]"));
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_EQ(both->strings, (std::vector<std::string>{"one", "Grüße"}));
    EXPECT_EQ(test::schema_problem(parsed(read_all(file("out/output_0.json")))), "");
    EXPECT_EQ(test::schema_problem(parsed(read_all(file("out/index.json")))), "");
    // What was written is what can be read.
    expect_good(run_words(subject, file("out/output_0.json"), text("b.json", R"(["", ""])")));
  }
};

TEST_F(ValuesTest, StringsComeInAndGoOutOfABareModel) { expect_words_joined(given("words.onnx", joined_words())); }

TEST_F(ValuesTest, StringsComeInAndGoOutOfATunedPlan) {
  const std::string model = given("words.onnx", joined_words());
  expect_good(run(quick_tune(model, file("words.collage"))));
  expect_words_joined(file("words.collage"));
  expect_good(run({"verify", file("words.collage"), "--seeds", "3"}));
  expect_good(run({"bench", file("words.collage"), "--seconds", "1"}));
  expect_good(run({"explain", file("words.collage")}));
}

TEST_F(ValuesTest, StringsAreReadFromArraysAndMessages) {
  const std::string model = given("words.onnx", joined_words());
  const Tensor words{.type = ElementType::kString, .extents = {2}, .strings = {"x", "y"}};
  for (const char* name : {"a.npy", "a.pb"}) {
    ASSERT_TRUE(write_value(file(name), words));
    expect_good(run_words(model, file(name), file(name)));
    EXPECT_EQ(read_value(file("out/output_0.json"), *parse_value_type("str[2]"))->strings,
              (std::vector<std::string>{"xx", "yy"}));
  }
}

TEST_F(ValuesTest, SequencesComeInAndGoOut) {
  const std::string model = given("parts.onnx", appended());
  expect_good(run(quick_tune(model, file("parts.collage"))));
  for (const std::string& subject : {model, file("parts.collage")}) {
    SCOPED_TRACE(subject);
    const Ended ended = run({"run", subject, "--input", "s=" + text("s.json", "[[1,2],[3]]"), "--input",
                             "x=" + text("x.json", "[-1, 0, 4]"), "--output-dir", file("out")});
    expect_good(ended);
    EXPECT_THAT(ended.out, HasSubstr("[[1.0,2.0],[3.0],[0.0,0.0,4.0]]"));
    const auto index = parsed(read_all(file("out/index.json")));
    EXPECT_EQ(index["outputs"][0]["file"], "output_0.json");
    EXPECT_FALSE(index["outputs"][0].contains("shape"));
    // None at all, and as ONNX writes them.
    expect_good(run({"run", subject, "--input", "s=" + text("s.json", "[]"), "--output-dir", file("out")}));
    ASSERT_TRUE(write_value(file("s.pb"), make_container(*parse_value_type("seq(f32[?])"),
                                                         {make_tensor<float>(ElementType::kFloat32, {1}, {7})})));
    expect_good(run({"run", subject, "--input", "s=" + file("s.pb"), "--output-dir", file("out")}));
    EXPECT_EQ(read_value(file("out/output_0.json"), *parse_value_type("seq(f32[?])"))->items.size(), 2U);
  }
  expect_good(run({"verify", file("parts.collage"), "--seeds", "3"}));
}

TEST_F(ValuesTest, WrongValuesAreErrorsWithTheirPlace) {
  const std::string model = given("words.onnx", joined_words());
  const std::string good = text("good.json", R"(["x","y"])");
  struct Wrong {
    std::string contents;
    std::string code;
    std::string place;
  };
  for (const Wrong& wrong :
       {Wrong{R"(["x"])", "input/wrong-shape", "input a"}, Wrong{R"(["x",1])", "tensor/malformed", "[1]"},
        Wrong{R"([["x","y"]])", "tensor/malformed", "deep"}, Wrong{R"({"x":1})", "tensor/malformed", "a.json"},
        Wrong{"[\"x\",\"\xff\"]", "tensor/malformed", "a.json"}, Wrong{"[\"x\"", "tensor/malformed", "a.json"}})
    expect_error(run_words(model, text("a.json", wrong.contents), good), 3, wrong.code, wrong.place);
  const Tensor odd{.type = ElementType::kString, .extents = {2}, .strings = {"x", "\xff"}};
  ASSERT_TRUE(write_value(file("a.pb"), odd));
  expect_error(run_words(model, file("a.pb"), good), 3, "input/not-utf8", "string 1");
  ASSERT_TRUE(write_value(file("a.npy"), make_tensor<float>(ElementType::kFloat32, {2}, {1, 2})));
  expect_error(run_words(model, file("a.npy"), good), 3, "input/wrong-type", "str[2]");
  expect_error(run({"run", model, "--input-range", "a=0..1"}), 2, "input/bad-range", "a");
  const std::string parts = given("parts.onnx", appended());
  expect_error(run({"run", parts, "--input", "s=" + text("s.json", "[[1],[[2]]]")}), 3, "tensor/malformed", "item 1");
  expect_error(run({"run", parts, "--input", "s=" + file("a.npy")}), 3, "input/wrong-type", "seq(f32[");
}

TEST_F(ValuesTest, PlansSayThatOlderReadersDoNotKnowThem) {
  const std::string words = given("words.onnx", joined_words());
  expect_good(run(quick_tune(words, file("words.collage"))));
  const std::string plan = read_all(file("words.collage"));
  ASSERT_TRUE(plan.starts_with(kInZip));
  EXPECT_THAT(plan, HasSubstr("\"schema\": \"collage.plan/2\""));
}

}  // namespace
}  // namespace collage::testing
