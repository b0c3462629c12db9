// Models that a program gets from elsewhere: what their reader does costs the program an error, nothing more. Hostile
// code is planted in the reader's process alone (tests/support/planted_parser.cpp): this program was started before.
#include "tests/api/c_tune/tune_fixture.h"
#include "tests/support/scoped_variable.h"

namespace collage::test {
namespace {

class CTuneTrust : public CTune {
 protected:
  static bool can_plant() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
  }
  /// The code that each function which reads a model gives.
  std::vector<std::string> codes(const char* path) {
    options.model = path;
    collage_report* report = nullptr;
    std::vector<std::string> all = {code_of(tuner().tune(&options, &report))};
    ReportHandle tuned(report);
    collage_model_options model{sizeof model};
    model.model = path;
    model.context = &context;
    collage_plan* plan = nullptr;
    all.push_back(code_of(tuner().plan_of_model(&model, &plan)));
    PlanHandle made(plan);
    collage_bench_options bench{sizeof bench};
    bench.plan = path;
    bench.seconds = 0.05;
    bench.context = &context;
    report = nullptr;
    all.push_back(code_of(tuner().bench(&bench, &report)));
    ReportHandle benched(report);
    return all;
  }
};

TEST_F(CTuneTrust, AReaderThatDiesIsAnError) {
  if (!can_plant()) GTEST_SKIP() << "a sanitiser";
  const ScratchFolder folder;
  const std::string path = folder.file("model.onnx");
  write(path, small_model());
  {
    const ScopedVariable preload("LD_PRELOAD", COLLAGE_PLANTED_PARSER);
    for (const char* what : {"crash", "abort", "answer"}) {
      const ScopedVariable planted("COLLAGE_PLANTED", what);
      EXPECT_THAT(codes(path.c_str()), ::testing::Each("import/reader-died")) << what;
    }
    const ScopedVariable planted("COLLAGE_PLANTED", "crash");
    context.trust_models = 1;
    collage_model_options model{sizeof model};
    model.model = path.c_str();
    model.context = &context;
    collage_plan* plan = nullptr;
    EXPECT_EQ(code_of(tuner().plan_of_model(&model, &plan)), "") << "this process reads it, where nothing was planted";
    const PlanHandle made(plan);
  }
  context.trust_models = 0;
  EXPECT_THAT(codes(path.c_str()), ::testing::Each(""));
}

TEST_F(CTuneTrust, LimitsHoldInAllFunctions) {
  const ScratchFolder folder;
  const std::string path = folder.file("model.onnx");
  write(path, small_model());
  const char* limits[] = {"depth=60", "nodes=1"};
  context.limits = {limits, 2};
  EXPECT_THAT(codes(path.c_str()), ::testing::Each("import/limit"));
  limits[1] = "nodes=1000";
  EXPECT_THAT(codes(path.c_str()), ::testing::Each(""));
  limits[1] = "nodes=many";
  EXPECT_THAT(codes(path.c_str()), ::testing::Each("api/wrong-option"));
}

}  // namespace
}  // namespace collage::test
