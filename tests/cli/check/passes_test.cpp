// --passes: passes over the graph that a user leaves out.
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class PassesTest : public CliTest {
 protected:
  PassesTest()
      : model_(given("model.onnx",
                     opset_model(17, "m (float[2,3] x) => (float[2,3] y) { same = Identity (x) y = Relu (same) }"))) {}

  [[nodiscard]] nlohmann::json json_of(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--json", "-"});
    const Ended ended = run(all);
    expect_good(ended);
    return parsed(ended.out);
  }

  std::string model_;
};

TEST_F(PassesTest, OneLeftOutDoesNotSimplify) {
  EXPECT_THAT(run({"check", model_, "--dump", "simplified"}).out, Not(HasSubstr("Identity")));
  EXPECT_THAT(run({"check", model_, "--dump", "simplified", "--passes", "-remove_identities"}).out,
              HasSubstr("Identity"));
  EXPECT_THAT(run({"check", model_, "--dump", "simplified", "--passes=-fold_pad,-remove_identities"}).out,
              HasSubstr("Identity"));
}

TEST_F(PassesTest, AreNamedByReportAndPlanAndTakenByReplay) {
  const std::string plan = file("p.collage");
  const nlohmann::json report = json_of(quick_tune(model_, plan, {"--passes", "-remove_identities,-fold_pad"}));
  EXPECT_THAT(report["passes_off"], ElementsAre("fold_pad", "remove_identities"));
  const nlohmann::json explained = json_of({"explain", plan});
  EXPECT_THAT(explained["passes_off"], ElementsAre("fold_pad", "remove_identities"));
  EXPECT_EQ(explained["nodes"].size(), 2U) << "Identity is still there";
  EXPECT_THAT(run({"explain", plan}).out, HasSubstr("passes switched off: fold_pad, remove_identities"));
  const std::string again = file("again.collage");
  const nlohmann::json replayed =
      json_of({"tune", model_, "--replay", plan, "-o", again, "--store", "memory:", "--quiet"});
  EXPECT_THAT(replayed["passes_off"], ElementsAre("fold_pad", "remove_identities"));
  EXPECT_THAT(json_of(quick_tune(model_, plan))["passes_off"], ElementsAre());
}

TEST_F(PassesTest, EachMayBeLeftOut) {
  const std::string without_any =
      "-remove_dead,-expand_contrib,-widen_16bit,-resolve_shapes,-fold_constants,-remove_identities,-resolve_padding,"
      "-canonicalise,-canonicalise_inexact,-merge_transposes,-merge_reshapes,-eliminate_common,-recognise_activations,"
      "-recognise_layer_norm,-sink_transposes,-merge_blocks,-fold_pad,-fold_space_to_depth,-merge_bias,"
      "-fold_batch_norm,-fold_scale,-split_batch_norm,-view_transposes,-flush_denormals";
  const std::string plan = file("p.collage");
  EXPECT_EQ(json_of(quick_tune(model_, plan, {"--passes", without_any}))["passes_off"].size(), 24U);
  expect_good(run({"verify", plan}));
}

TEST_F(PassesTest, MistakesAreNamed) {
  const std::string plan = file("p.collage");
  expect_error(run(quick_tune(model_, plan, {"--passes", "-fold_batchnorm"})), 2, "cli/bad-option",
               "--passes: saw 'fold_batchnorm'; did you mean fold_batch_norm?");
  expect_error(run(quick_tune(model_, plan, {"--passes", "fold_pad"})), 2, "cli/bad-option", "a minus before each");
  expect_error(run({"check", model_, "--passes", "-fold_pad"}), 2, "cli/bad-option", "--passes");
  expect_error(run({"check", model_, "--dump", "graph", "--passes", "-fold_pad"}), 2, "cli/bad-option", "--passes");
}

}  // namespace
}  // namespace collage::testing
