// What is wrong with a call is an error with a code, never a crash.
#include <cmath>
#include <limits>

#include "tests/api/c_tune/tune_fixture.h"

namespace collage::test {
namespace {

class CTuneOptions : public CTune {};

TEST_F(CTuneOptions, NullPointersAreErrors) {
  collage_report* report = nullptr;
  EXPECT_EQ(code_of(tuner().tune(nullptr, &report)), "api/null-argument");
  EXPECT_EQ(code_of(tuner().tune(&options, nullptr)), "api/null-argument");
  EXPECT_EQ(code_of(tuner().bench(nullptr, &report)), "api/null-argument");
  EXPECT_EQ(code_of(tuner().verify(nullptr, &report)), "api/null-argument");
  EXPECT_EQ(code_of(tuner().recheck(nullptr, &report)), "api/null-argument");
  EXPECT_EQ(code_of(tuner().explain(nullptr, &report)), "api/null-argument");
  EXPECT_EQ(code_of(tuner().backends(nullptr, nullptr)), "api/null-argument");
  EXPECT_EQ(code_of(tuner().cancel_create(nullptr)), "api/null-argument");
  EXPECT_EQ(code_of(tuner().report_tune_summary(nullptr, nullptr)), "api/null-argument");
  collage_plan* plan = nullptr;
  EXPECT_EQ(code_of(tuner().plan_of_model(nullptr, &plan)), "api/null-argument");
  const collage_model_options model{sizeof model};
  EXPECT_EQ(code_of(tuner().plan_of_model(&model, nullptr)), "api/null-argument");
}

TEST_F(CTuneOptions, OfNoReportThereIsNothingToSay) {
  EXPECT_STREQ(tuner().report_json(nullptr), "");
  EXPECT_STREQ(tuner().report_text(nullptr), "");
  EXPECT_EQ(tuner().report_ok(nullptr), 0);
  tuner().report_free(nullptr);
  tuner().cancel_now(nullptr);
  tuner().cancel_free(nullptr);
}

TEST_F(CTuneOptions, OfALaterVersionAreErrors) {
  options.reserved = 1;
  EXPECT_EQ(refused(), "api/unknown-option");
}

TEST_F(CTuneOptions, SizesThatNobodySetAreErrors) {
  options.size = 0;
  EXPECT_EQ(refused(), "api/wrong-size");
  options.size = 1 << 20;
  EXPECT_EQ(refused(), "api/wrong-size");
  options.size = sizeof options;
  context.size = 4;
  EXPECT_EQ(refused(), "api/wrong-size");
}

TEST_F(CTuneOptions, OfALongerStructThereMayBeZerosOnly) {
  struct Longer {
    collage_tune_options known;
    std::uint64_t more;
  } longer = {options, 0};
  longer.known.size = sizeof longer;
  longer.known.threads = -1;
  collage_report* report = nullptr;
  EXPECT_EQ(code_of(tuner().tune(&longer.known, &report)), "api/wrong-option") << "read as far as it is known";
  longer.more = 1;
  EXPECT_EQ(code_of(tuner().tune(&longer.known, &report)), "api/unknown-option");
}

TEST_F(CTuneOptions, OfAShorterStructTheRestIsTheDefault) {
  // A program that knows no more than the path of the model: bytes beside it would be wrong, and no plan is named.
  options.size = offsetof(collage_tune_options, model_bytes);
  options.model_bytes = "x";
  EXPECT_EQ(refused(), "api/null-argument");
}

TEST_F(CTuneOptions, AModelIsAPathOrBytes) {
  options.model = nullptr;
  EXPECT_EQ(refused(), "api/wrong-option");
  options.model = model_.c_str();
  options.model_bytes = "x";
  options.model_byte_count = 1;
  EXPECT_EQ(refused(), "api/wrong-option");
}

TEST_F(CTuneOptions, APlanIsNeededAndIsNotTheModel) {
  options.plan = nullptr;
  EXPECT_EQ(refused(), "api/null-argument");
  options.plan = "";
  EXPECT_EQ(refused(), "api/null-argument");
  options.plan = model_.c_str();
  EXPECT_EQ(refused(), "api/wrong-option");
}

TEST_F(CTuneOptions, NumbersHaveLimits) {
  options.threads = 1025;
  EXPECT_EQ(refused(), "api/wrong-option");
  options.threads = 0;
  for (const double budget : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    options.budget_s = budget;
    EXPECT_EQ(refused(), "api/wrong-option") << budget;
  }
  options.budget_s = 0;
  options.schedule_budget_s = -1;
  EXPECT_EQ(refused(), "api/wrong-option");
  options.schedule_budget_s = 0;
  options.memory_cap = -1;
  EXPECT_EQ(refused(), "api/wrong-option");
}

TEST_F(CTuneOptions, TextsThatMeanNothingAreErrors) {
  options.accuracy = "exact";
  EXPECT_EQ(refused(), "api/wrong-option");
  options.accuracy = nullptr;
  const Texts bad = {"nonsense"};
  const auto refuses = [&](collage_texts collage_tune_options::*member) {
    collage_tune_options asked = options;
    asked.*member = bad;
    collage_report* report = nullptr;
    return code_of(tuner().tune(&asked, &report));
  };
  EXPECT_EQ(refuses(&collage_tune_options::shapes), "shape/malformed");
  EXPECT_EQ(refuses(&collage_tune_options::backends), "backend/missing");
  EXPECT_EQ(refuses(&collage_tune_options::bans), "tune/bad-rule");
  EXPECT_EQ(refuses(&collage_tune_options::pins), "tune/bad-rule");
  EXPECT_EQ(refuses(&collage_tune_options::passes_off), "api/wrong-option");
  EXPECT_EQ(refuses(&collage_tune_options::input_ranges), "api/wrong-option");
  EXPECT_EQ(refuses(&collage_tune_options::at), "api/wrong-option") << "no range to take it from";
  options.points = 4;
  EXPECT_EQ(refused(), "api/wrong-option");
  options.points = 0;
  options.rules_text = "nonsense";
  EXPECT_EQ(refused(), "region/bad-rule");
  options.rules = "/nonexistent";
  EXPECT_EQ(refused(), "api/wrong-option") << "a file and a text";
}

TEST_F(CTuneOptions, ListsWithNullsAreErrors) {
  options.shapes = {nullptr, 1};
  EXPECT_EQ(refused(), "api/null-argument");
  const Texts holes = {"x=5x7", nullptr};
  options.shapes = holes;
  EXPECT_EQ(refused(), "api/null-argument");
}

TEST_F(CTuneOptions, ModulesAndStoresAreLookedAt) {
  const Texts modules = {"/nonexistent.so"};
  context.modules = modules;
  EXPECT_EQ(refused(), "api/wrong-option");
  context.modules = {};
  context.store = "strange:place";
  EXPECT_EQ(refused(), "store/unknown-kind");
}

TEST_F(CTuneOptions, AWorkerThatCannotStartIsAnError) {
  const Texts worker = {"/nonexistent/worker"};
  context.worker = worker;
  EXPECT_EQ(refused(), "worker/cannot-start");
}

TEST_F(CTuneOptions, AFileThatIsNoModelOrNotThereIsAnError) {
  write(model_, "no model");
  EXPECT_EQ(refused().substr(0, 7), "import/");
  options.model = "/nonexistent.onnx";
  EXPECT_EQ(refused(), "import/not-found");
}

TEST_F(CTuneOptions, OtherVersionsOfTheTableAreNotThere) {
  EXPECT_EQ(collage_get_tune_api(0), nullptr);
  EXPECT_EQ(collage_get_tune_api(COLLAGE_TUNE_API_VERSION + 1), nullptr);
  EXPECT_EQ(tuner().size, sizeof(collage_tune_api));
}

}  // namespace
}  // namespace collage::test
