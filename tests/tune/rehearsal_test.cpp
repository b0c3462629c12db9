#include "tune/rehearsal.h"

#include "numbers/graph_file.h"
#include "region/pool_json.h"
#include "tests/tune/tune_fixture.h"
#include "tune/proposers.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

class Rehearsal : public ::testing::Test {
 protected:
  Rehearsed rehearsed(const std::vector<std::string>& backends, bool with_graph) {
    RehearsalRequest request;
    request.backends = backends;
    request.limit = limit;
    if (with_graph) {
      request.graph_file = scratch.file("graph.onnx");
      request.folder = scratch.temporary();
      EXPECT_TRUE(write_graph_file(request.graph_file, graph));
    }
    const auto found = rehearse(worker, request);
    EXPECT_TRUE(found) << to_string(found.error());
    return found.value_or(Rehearsed());
  }

  std::map<std::string, Refusal> tried(const std::vector<std::string>& backends, bool with_graph) {
    return rehearsed(backends, with_graph).refused;
  }

  std::chrono::seconds limit = 3s;
  Graph graph = test::small_graph();

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
  EXPECT_TRUE(found->refused.empty());
}

TEST_F(Rehearsal, ProposalsMakeThePoolThatAskingHereMakes) {
  Registry registry{test::module_folders()};
  std::vector<std::string> all = {"host", "onnxruntime", "onednn", "openvino", "native", "test", "test:single_us=1"};
  std::erase_if(all, [&](const std::string& name) { return !registry.get(name); });
  limit = 60s;  // libraries start
  const Rehearsed worker_said = rehearsed(all, true);
  ASSERT_EQ(worker_said.proposals.size(), all.size());
  const Uses uses = uses_of(graph);
  KnownProposals known;
  for (const auto& [name, file] : worker_said.proposals) {
    auto pool = read_proposals(file, graph, uses);
    ASSERT_TRUE(pool) << to_string(pool.error());
    // The first is asked here, as the host is in a tune.
    if (name != all.front()) known[name] = *std::move(pool);
  }
  const auto proposers = make_proposers(registry, all, graph, {});
  ASSERT_TRUE(proposers) << to_string(proposers.error());
  const CandidatePool expected = propose(graph, uses, *proposers);
  const CandidatePool made = propose(graph, uses, *proposers, {}, known);
  EXPECT_EQ(to_json(made), to_json(expected));
  ASSERT_EQ(made.regions.size(), expected.regions.size());
  for (std::size_t r = 0; r < made.regions.size(); ++r) EXPECT_EQ(made.regions[r].outputs, expected.regions[r].outputs);
}

TEST_F(Rehearsal, WhoIsLeftOutHasNoProposals) {
  const Rehearsed worker_said = rehearsed({"test:fault=propose-change-input", "test", "absent"}, true);
  ASSERT_EQ(worker_said.proposals.size(), 1U);
  EXPECT_TRUE(worker_said.proposals.contains("test"));
}

TEST_F(Rehearsal, ProposalsThatAreNoneAreAnError) {
  std::ofstream(scratch.file("rubbish")) << "rubbish";
  EXPECT_EQ(read_proposals(scratch.file("rubbish"), graph, uses_of(graph)).error().code, "measure/malformed-json");
  EXPECT_FALSE(read_proposals(scratch.file("absent"), graph, uses_of(graph)));
}

}  // namespace
}  // namespace collage
