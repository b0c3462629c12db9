// Indices beyond a table and divisors of zero, given to the program: an error that names the step, the node, the value
// and what was seen, whoever runs the step; never numbers.
#include "onnx/files/tensor_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// `ids` int64[2] -> `y` float[2,2]: rows of a table of three, doubled.
std::string lookup() {
  return opset_model(17,
                     "lookup (int64[2] ids) => (float[2,2] y) <float[3,2] table = {0, 1, 2, 3, 4, 5}> { rows = Gather "
                     "(table, ids) y = Add (rows, rows) }");
}

/// `a` int64[3], `b` int64[3] -> `y` int64[3], y = a / b + a.
std::string shares() {
  return opset_model(17, "shares (int64[3] a, int64[3] b) => (int64[3] y) { q = Div (a, b) y = Add (q, a) }");
}

class BorderTest : public CliTest {
 protected:
  [[nodiscard]] std::string integers(const std::string& name, const std::vector<std::int64_t>& values) const {
    const auto count = static_cast<std::int64_t>(values.size());
    EXPECT_TRUE(write_npy(file(name), make_tensor(ElementType::kInt64, {count}, values)));
    return file(name);
  }

  [[nodiscard]] Ended run_with(const std::string& subject,
                               const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& inputs) const {
    std::vector<std::string> arguments = {"run", subject, "--output-dir", file("out")};
    for (const auto& [name, values] : inputs) {
      arguments.emplace_back("--input");
      arguments.push_back(name + "=" + integers(name + ".npy", values));
    }
    return run(arguments);
  }

  void expect_lookups_kept(const std::string& subject) const {
    SCOPED_TRACE(subject);
    const Ended beyond = run_with(subject, {{"ids", {0, 3}}});
    expect_error(beyond, 3, "runtime/bad-operand", "ids");
    EXPECT_THAT(beyond.err,
                AllOf(HasSubstr("step "), HasSubstr("Gather"), HasSubstr("saw 3 at [1]"), HasSubstr("-3 to 2")));
    expect_error(run_with(subject, {{"ids", {-4, 0}}}), 3, "runtime/bad-operand", "-4");
    expect_good(run_with(subject, {{"ids", {-1, -3}}}));
    const auto rows = read_npy(file("out/output_0.npy"));
    ASSERT_TRUE(rows);
    EXPECT_EQ(*floats_of(*rows), (std::vector<double>{8, 10, 0, 2}));
  }

  void expect_divisions_kept(const std::string& subject) const {
    SCOPED_TRACE(subject);
    const Ended zero = run_with(subject, {{"a", {1, 2, 3}}, {"b", {1, 0, 2}}});
    expect_error(zero, 3, "runtime/bad-operand", "saw 0 at [1]");
    EXPECT_THAT(zero.err, AllOf(HasSubstr("step "), HasSubstr("Div"), HasSubstr(": b")));
    const std::int64_t least = std::numeric_limits<std::int64_t>::min();
    expect_error(run_with(subject, {{"a", {1, least, 3}}, {"b", {1, -1, 2}}}), 3, "runtime/bad-operand", "saw -1");
    expect_good(run_with(subject, {{"a", {-7, 7, 6}}, {"b", {2, -2, -1}}}));
    const auto sums = read_npy(file("out/output_0.npy"));
    ASSERT_TRUE(sums);
    EXPECT_EQ(*integers_of(*sums), (std::vector<std::int64_t>{-10, 4, 0}));
  }
};

class BorderTestOf : public BorderTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(BorderTestOf, EndsPlansWithTheValueNamed) {
  const std::string looking = given("lookup.onnx", lookup());
  const std::string dividing = given("shares.onnx", shares());
  expect_good(run(quick_tune(looking, file("lookup.collage"), {"--only", GetParam()})));
  expect_lookups_kept(file("lookup.collage"));
  expect_good(run(quick_tune(dividing, file("shares.collage"), {"--only", GetParam()})));
  expect_divisions_kept(file("shares.collage"));
}

INSTANTIATE_TEST_SUITE_P(Backends, BorderTestOf,
                         ::testing::Values("host", "native", "onednn", "onnxruntime", "openvino"),
                         [](const auto& param) { return param.param; });

TEST_F(BorderTest, EndsModelsWithoutAPlan) {
  expect_lookups_kept(given("lookup.onnx", lookup()));
  expect_divisions_kept(given("shares.onnx", shares()));
}

TEST_F(BorderTest, KeepsTheChecksOfAReplayedPlan) {
  const std::string model = given("lookup.onnx", lookup());
  expect_good(run(quick_tune(model, file("first.collage"))));
  expect_good(run({"tune", model, "--replay", file("first.collage"), "-o", file("again.collage"), "--quiet", "--store",
                   "memory:"}));
  expect_lookups_kept(file("again.collage"));
}

TEST_F(BorderTest, RefusesAModelWithAConstantBeyondItsTable) {
  const std::string model =
      given("constant.onnx",
            opset_model(17, "constant (float[3,2] x) => (float[1,2] y) <int64[1] row = {3}> { y = Gather (x, row) }"));
  for (const std::string command : {"check", "run"}) {
    const Ended ended = run({command, model});
    expect_error(ended, 3, "import/bad-operand", "row");
    EXPECT_THAT(ended.err, HasSubstr("saw constant 3; allowed -3 to 2"));
  }
}

}  // namespace
}  // namespace collage::testing
