#include "tune/rehearsal.h"

#include "numbers/graph_file.h"
#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

class Rehearsal : public ::testing::Test {
 protected:
  std::map<std::string, Refusal> tried(const std::vector<std::string>& backends, bool with_graph) {
    RehearsalRequest request;
    request.backends = backends;
    request.limit = 3s;
    if (with_graph) {
      request.graph_file = scratch.file("graph.onnx");
      EXPECT_TRUE(write_graph_file(request.graph_file, test::small_graph()));
    }
    const auto found = rehearse(worker, request);
    EXPECT_TRUE(found) << to_string(found.error());
    return found.value_or(std::map<std::string, Refusal>());
  }

  test::Scratch scratch;
  WorkerProcess worker{test::worker_command()};
};

TEST_F(Rehearsal, BackendsThatBehaveAreAllRight) {
  const std::vector<std::string> all = {"host", "onnxruntime", "onednn", "openvino", "test", "test:delay_us=1"};
  for (const bool with_graph : {false, true}) {
    const auto found = tried(all, with_graph);
    for (const auto& [name, refusal] : found) ADD_FAILURE() << name << ": " << refusal.detail;
  }
  EXPECT_TRUE(worker.is_running());
}

TEST_F(Rehearsal, InstanceThatIsNotThereIsNotItsBusiness) {
  EXPECT_TRUE(tried({"absent", "test:nonsense", ""}, false).empty());
  EXPECT_TRUE(tried({"absent"}, true).empty());
}

TEST_F(Rehearsal, WhoDiesInAProbeIsLeftOutAndTheOthersAreTried) {
  const auto found =
      tried({"test", "test:fault=probe-crash", "test:fault=probe-exit", "test:fault=probe-hang", "host"}, false);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.at("test:fault=probe-crash").reason, RefusalReason::kCrashed);
  EXPECT_EQ(found.at("test:fault=probe-exit").reason, RefusalReason::kCrashed);
  EXPECT_EQ(found.at("test:fault=probe-hang").reason, RefusalReason::kTimeout);
}

TEST_F(Rehearsal, WhoChangesTheProcessOrTheGraphIsLeftOut) {
  EXPECT_NE(tried({"test:fault=probe-state"}, false).at("test:fault=probe-state").detail.find("changed the process"),
            std::string::npos);
  const auto found = tried({"test:fault=propose-change-input", "test"}, true);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found.at("test:fault=propose-change-input").detail.find("changed the graph"), std::string::npos);
}

TEST_F(Rehearsal, StopEndsIt) {
  std::stop_source source;
  source.request_stop();
  RehearsalRequest request;
  request.backends = {"test:fault=probe-hang"};
  request.stop = source.get_token();
  const auto found = rehearse(worker, request);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
}

}  // namespace
}  // namespace collage
