// tune --serve: what a browser sees while the tune goes on.
#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class LiveTest : public CliTest {
 protected:
  LiveTest() : model_(given("model.onnx", small_network())), plan_(file("model.collage")) {}

  std::vector<std::string> live_tune(const std::string& port) const {
    return {"tune", model_, "-o", plan_, "--budget", "30s", "--store", "memory:", "--serve", port};
  }

  /// The address that the only program in the test's home says on stderr.
  std::string address() const {
    for (int tries = 0; tries < 3000; ++tries) {
      for (const auto& entry : std::filesystem::directory_iterator(home() / "streams")) {
        const std::string said = read_all(entry.path());
        const std::size_t begin = said.find("http://127.0.0.1:");
        const std::size_t end = said.find('\n', begin);
        if (begin != std::string::npos && end != std::string::npos) return said.substr(begin, end - begin);
      }
      std::this_thread::sleep_for(10ms);
    }
    ADD_FAILURE() << "no address";
    return "http://127.0.0.1:1/";
  }

  std::string model_;
  std::string plan_;
};

TEST_F(LiveTest, ShowsTheBestPlanWhileTheTuneGoesOn) {
  Program program(home(), live_tune("0"));
  const std::string address = this->address();
  const std::size_t slash = address.find('/', 8);
  const std::string path = address.substr(slash);
  httplib::Client client(address.substr(0, slash));
  const auto page = client.Get(path);
  ASSERT_TRUE(page);
  EXPECT_THAT(page->body, HasSubstr("<!doctype html>"));
  nlohmann::json state = nlohmann::json::object();
  // The plan is on disk a moment before its time is told.
  const auto is_told = [&] { return !state.value("plan", "").empty() && !state["curve"].empty(); };
  for (int tries = 0; tries < 400 && !is_told(); ++tries) {
    const auto answer = client.Get(path + "state");
    ASSERT_TRUE(answer);
    state = nlohmann::json::parse(answer->body);
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_FALSE(state["plan"].get<std::string>().empty());
  EXPECT_FALSE(state["curve"].empty());
  const auto plan = client.Get(path + "plan");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->status, 200);
  EXPECT_THAT(plan->body, HasSubstr("model.onnx"));
  program.send(SIGINT);
  const Ended ended = program.wait(20s);
  EXPECT_EQ(ended.exit_code, 0) << describe(ended);
}

TEST_F(LiveTest, NeedsAPortAndSomewhereToSayIt) {
  EXPECT_EQ(run(live_tune("70000")).exit_code, 2);
  std::vector<std::string> quiet = live_tune("0");
  quiet.push_back("--quiet");
  EXPECT_EQ(run(quiet).exit_code, 2);
}

}  // namespace
}  // namespace collage::testing
