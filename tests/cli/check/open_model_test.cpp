// What `check` says of open dimensions: how to close each, and what they do to the counts.
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(CliTest, CheckNamesOpenDimensionsAsShapeTakesThem) {
  const std::string named = given("named.onnx", sum_with_open_dimension());
  EXPECT_THAT(run({"check", named}).out, HasSubstr("  open     N: --shape N=8\n"));
  EXPECT_EQ(parsed(run({"check", named, "--json", "-"}).out)["open_dimensions"], nlohmann::json({"N"}));
  expect_good(run({"run", named, "--shape", "N=8"}));
  const std::string unnamed = given("unnamed.onnx", doubling_with_unnamed_dimension());
  const Ended ended = run({"check", unnamed, "--json", "-"});
  expect_good(ended);
  EXPECT_EQ(parsed(ended.out)["open_dimensions"], nlohmann::json({"x=?x4"}));
  EXPECT_THAT(run({"check", unnamed}).out, HasSubstr("open     x=?x4: --shape x=?x4 with a number for each ?\n"));
  expect_good(run({"run", unnamed, "--shape", "x=8x4"}));
}

TEST_F(CliTest, CheckSaysThatCountsAreLowForOpenDimensions) {
  const std::string model = given("model.onnx", matmul_with_open_rows());
  const Ended open = run({"check", model, "--json", "-"});
  expect_good(open);
  const nlohmann::json report = parsed(open.out);
  EXPECT_EQ(report["open_nodes"], 2);
  EXPECT_EQ(report["backends"]["onednn"], 0);
  EXPECT_THAT(report["notes"].back().get<std::string>(),
              AllOf(HasSubstr("low because dimensions are open (rows): 2 of 2 nodes"), HasSubstr("--shape rows=8")));
  EXPECT_THAT(run({"check", model}).out, HasSubstr("note: the counts are low because dimensions are open (rows)"));

  const Ended closed = run({"check", model, "--shape", "rows=8", "--json", "-"});
  expect_good(closed);
  EXPECT_EQ(parsed(closed.out)["open_nodes"], 0);
  EXPECT_EQ(parsed(closed.out)["backends"]["onednn"], 2);
  EXPECT_THAT(closed.out, Not(HasSubstr("counts are low")));
}

TEST_F(CliTest, CheckReadsRulesWithoutADump) {
  const std::string model = given("model.onnx", small_network());
  const auto check = [&](const std::string& rules) {
    return run({"check", model, "--rules", given("my.rules", rules), "--json", "-"});
  };
  const Ended fits = check("ban onednn: Conv\npattern * block: Conv -> Relu\n");
  expect_good(fits);
  EXPECT_EQ(parsed(fits.out)["rules"], 2);
  for (const auto& [rules, says] : {std::pair{"melt onednn: Conv", "saw melt"},
                                    {"ban onednn: Cnov", "my.rules:1: saw operator Cnov; did you mean Conv?"},
                                    {"pattern * p: Conv -> Rleu?", "operator Rleu; did you mean Relu?"},
                                    {"pattern * p: Relu(Cnov(*, const))", "operator Cnov; did you mean Conv?"},
                                    {"ban onedn: Conv", "backend onedn; did you mean onednn?"},
                                    {"fuse onednn x: nosuchnode", "no node with a name like nosuchnode"}}) {
    const Ended ended = run({"check", model, "--rules", given("my.rules", rules)});
    expect_error(ended, 2, "region/bad-rule", says);
  }
  expect_good(check("ban *: com.microsoft::FusedConv"));
  expect_error(run({"check", model, "--rules", file("none.rules")}), 6, "region/cannot-read", "none.rules");
  expect_error(run(quick_tune(model, file("p"), {"--rules", given("my.rules", "ban onednn: Cnov")})), 2,
               "region/bad-rule", "did you mean Conv?");
}

}  // namespace
}  // namespace collage::testing
