#include "measure/work_ahead.h"

#include "store/artifact_file.h"
#include "tests/measure/pricing_fixture.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

class WorkAhead : public ::testing::Test, protected test::PricingLab {
 protected:
  PriceJob job(const std::string& backend, std::uint32_t node = 0) {
    return {.target = {.graph_file = folder.file("graph.onnx"), .record_file = folder.file("record"), .nodes = {node}},
            .candidates = request({node}, {backend}).candidates,
            .options = {},
            .artifact_folder = store.artifact_folder(),
            .effort = Effort::kPrepare};
  }

  std::vector<WorkedAhead> run(const std::vector<PriceJob>& jobs, Clock::time_point until = Clock::time_point::max()) {
    return workers.run(jobs, 2, usual_allowance(60s, 60s, 300ms), until, {});
  }

  WorkersAhead workers{test::worker_command()};
};

TEST_F(WorkAhead, AnswersForThoseWhoAreRightOrWrongAndTellsWhoHangs) {
  const std::vector<WorkedAhead> done =
      run({job("test"), job("test:fault=run-wrong"), job("test:fault=run-hang"), job("test:fault=run-crash"),
           job("test:fault=compile-throw"), job("test", 2)});
  ASSERT_EQ(done.size(), 6U);
  for (const auto& [right, node] : {std::pair{0, 0}, {5, 2}}) {
    const auto& answer = done[static_cast<std::size_t>(right)].answer;
    ASSERT_TRUE(answer) << right;
    const Region region = test::region_of(graph, {static_cast<std::size_t>(node)});
    EXPECT_TRUE(read_artifact(store.artifact_folder(), answer->artifact, region.constants)) << right;
  }
  ASSERT_TRUE(done[1].answer);
  const auto* const wrong = std::get_if<Infeasible>(&done[1].answer->cost);
  ASSERT_NE(wrong, nullptr);
  EXPECT_EQ(wrong->refusal.reason, RefusalReason::kWrongResult);
  for (const std::size_t failed : {3, 4}) EXPECT_FALSE(done[failed].answer || done[failed].hang) << failed;
  ASSERT_TRUE(done[2].hang);
  EXPECT_EQ(done[2].hang->refusal.reason, RefusalReason::kTimeout);
}

TEST_F(WorkAhead, KernelsOfManyThreadsRunFewerAtOnce) {
  EXPECT_EQ(workers.width(1 << 20), 1U);
  EXPECT_GE(workers.width(1), workers.width(2));
}

TEST_F(WorkAhead, BeginsNothingAfterTheTimeLimit) {
  for (const WorkedAhead& one : run({job("test"), job("test", 2)}, Clock::now() - 1s))
    EXPECT_FALSE(one.answer || one.hang);
}

TEST_F(WorkAhead, WorksInFreshProcessesAfterTheOthersLeft) {
  EXPECT_TRUE(run({job("test")})[0].answer);
  workers.leave();
  EXPECT_TRUE(run({job("test")})[0].answer);
}

}  // namespace
}  // namespace collage
