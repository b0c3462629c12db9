// --events: every line has the published form, counts do not fall, and the last one says how it ended.
#include <signal.h>

#include <chrono>
#include <map>
#include <sstream>
#include <thread>

#include "tests/cli/models.h"
#include "tests/cli/test_backends.h"
#include "tests/support/schema_check.h"

namespace collage::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class EventsTest : public TestBackendsTest {
 protected:
  [[nodiscard]] std::vector<std::string> with_events(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--events", file("events")});
    return arguments;
  }

  /// The lines, each of which has the published form; the last one, and no other, ends.
  [[nodiscard]] std::vector<nlohmann::json> events() const {
    const std::string text = read_all(file("events"));
    EXPECT_TRUE(text.ends_with('\n'));
    const nlohmann::json schema = test::published_schema("event.schema.json");
    std::vector<nlohmann::json> events;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      events.push_back(parsed(line));
      EXPECT_EQ(test::SchemaCheck(schema).problem(events.back()), "") << line;
    }
    EXPECT_FALSE(events.empty());
    for (std::size_t i = 0; i < events.size(); ++i) {
      const bool is_last = i + 1 == events.size();
      EXPECT_EQ(events[i]["phase"] == "end", is_last) << events[i];
      EXPECT_EQ(events[i].contains("outcome"), is_last) << events[i];
    }
    return events;
  }

  static void expect_counts_do_not_fall(const std::vector<nlohmann::json>& events) {
    double t_s = 0;
    std::map<std::string, nlohmann::json> last;
    for (const nlohmann::json& event : events) {
      EXPECT_GE(event["t_s"], t_s) << event;
      t_s = event["t_s"];
      const std::string phase = event["phase"];
      if (last.contains(phase)) {
        EXPECT_GE(event["done"], last[phase]["done"]) << event;
        EXPECT_GE(event["refused"], last[phase]["refused"]) << event;
      }
      if (event["total"] > 0) {
        EXPECT_LE(event["done"], event["total"]) << event;
        EXPECT_EQ(event["left"].get<int>(), event["total"].get<int>() - event["done"].get<int>()) << event;
      }
      last[phase] = event;
    }
  }
};

TEST_F(EventsTest, TuneTellsWhatItDoesAndEnds) {
  const std::string model = given("model.onnx", chain(4));
  expect_good(run(with_events(quick_tune(model, file("model.collage"), {"--backends", "test"}))));
  const auto lines = events();
  expect_counts_do_not_fall(lines);
  std::vector<std::string> phases;
  bool is_timed = false;
  for (const nlohmann::json& event : lines) {
    phases.push_back(event["phase"]);
    if (is_timed) {
      EXPECT_GT(event["best_us"], 0) << event;
    }
    if (!event["best_us"].is_null()) is_timed = true;
    if (event["phase"] != "end") {
      EXPECT_GE(event["left_s"], 0) << event;
      EXPECT_LE(event["left_s"], 8) << event << " more than the budget";
    }
  }
  EXPECT_TRUE(is_timed);
  EXPECT_THAT(phases, ::testing::IsSupersetOf({"import", "record", "rivals", "price", "search", "confirm", "end"}));
  EXPECT_EQ(lines.back()["outcome"], "done");
  EXPECT_EQ(lines.back()["exit"], 0);
  EXPECT_GT(lines.back()["best_us"], 0);
}

TEST_F(EventsTest, FailureIsTheLastLine) {
  const Ended ended = run(with_events(quick_tune(given("bad.onnx", "no model"), file("bad.collage"))));
  EXPECT_EQ(ended.exit_code, 3);
  const auto lines = events();
  EXPECT_EQ(lines.back()["outcome"], "failed");
  EXPECT_EQ(lines.back()["exit"], 3);
  EXPECT_THAT(lines.back()["error"]["code"].get<std::string>(), HasSubstr("import/"));
  EXPECT_THAT(lines.back()["error"]["where"].get<std::string>(), HasSubstr("bad.onnx"));
}

TEST_F(EventsTest, CommandWithoutProgressEndsToo) {
  expect_good(run(with_events({"backends"})));
  EXPECT_EQ(events().back()["outcome"], "done");
  EXPECT_EQ(run(with_events({"verify", file("absent.collage")})).exit_code, 6);
  EXPECT_EQ(events().back()["exit"], 6);
}

class InterruptedEvents : public EventsTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(InterruptedEvents, EndWithTheOutcome) {
  const std::string model = given("model.onnx", chain(4));
  Program program(home(), with_events({"tune", model, "-o", file("model.collage"), "--budget", "60s", "--quiet",
                                       "--store", "memory:", "--backends", "test"}));
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (read_all(file("events")).find("\"phase\":\"" + GetParam() + "\"") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(1ms);
  }
  program.send(SIGINT);
  const Ended ended = program.wait(20s);
  const auto lines = events();
  expect_counts_do_not_fall(lines);
  EXPECT_EQ(lines.back()["outcome"], "interrupted");
  EXPECT_EQ(lines.back()["exit"], ended.exit_code);
  EXPECT_EQ(lines.back().contains("error"), ended.exit_code != 0);
}

INSTANTIATE_TEST_SUITE_P(Phases, InterruptedEvents, ::testing::Values("import", "price", "confirm"),
                         [](const auto& named) { return named.param; });

}  // namespace
}  // namespace collage::testing
