#include "serve/live_server.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <thread>

#include <nlohmann/json.hpp>

namespace collage {
namespace {

using nlohmann::json;

/// A server with a page, and a plan from its second version on.
struct Live {
  std::string version;
  std::chrono::milliseconds farewell{0};
  std::unique_ptr<LiveServer> server =
      LiveServer::open({.frame = "<p>frame</p>",
                        .plan_version = [this] { return version; },
                        .plan = [this]() -> Result<std::string> {
                          if (version.empty()) return fail(ExitCode::kIo, "plan/missing", "plan", "nothing", "a plan");
                          return "<p>plan " + version + "</p>";
                        },
                        .farewell = farewell},
                       0)
          .value();
  std::string address = server->address();
  std::string path = address.substr(address.find('/', 8));
  std::string origin = address.substr(0, address.size() - path.size());
  httplib::Client client{origin};

  json state() { return json::parse(client.Get(path + "state")->body); }
};

TEST(LiveServer, TellsTheLastProgressTheCurveAndTheNotes) {
  Live live;
  live.server->add({.phase = "price", .done = 2, .total = 8, .refused = 1, .best_us = 30, .note = {}, .left_s = 12});
  live.server->add({.phase = "price", .done = 3, .total = 8, .best_us = 30, .note = "a note"});
  live.server->add({.phase = "confirm", .best_us = 20, .rival = "engine", .speedup = 1.5, .note = {}});
  const json state = live.state();
  EXPECT_EQ(state["phase"], "confirm");
  EXPECT_EQ(state["best_us"], 20);
  EXPECT_EQ(state["rival"], "engine");
  EXPECT_EQ(state["speedup"], 1.5);
  ASSERT_EQ(state["curve"].size(), 2U);
  EXPECT_EQ(state["curve"][0][1], 30);
  EXPECT_EQ(state["curve"][1][1], 20);
  EXPECT_EQ(state["notes"], json::array({"price: a note"}));
  EXPECT_EQ(state["is_over"], false);
}

TEST(LiveServer, ShowsThePlanOnceThereIsOne) {
  Live live;
  EXPECT_EQ(live.state()["plan"], "");
  EXPECT_EQ(live.client.Get(live.path + "plan")->status, 404);
  live.version = "2";
  EXPECT_EQ(live.state()["plan"], "2");
  EXPECT_EQ(live.client.Get(live.path + "plan")->body, "<p>plan 2</p>");
}

TEST(LiveServer, AnswersOnlyWhoKnowsTheTokenAndAsksThisMachine) {
  Live live;
  EXPECT_EQ(live.client.Get(live.path)->body, "<p>frame</p>");
  EXPECT_EQ(live.path.size(), 34U) << "128 bits between two /";
  for (const std::string path : {"/", "/state", "/0123456789abcdef0123456789abcdef/"})
    EXPECT_EQ(live.client.Get(path)->status, 404) << path;
  EXPECT_EQ(live.client.Get(live.path, {{"Host", "elsewhere.example:80"}})->status, 403);
  EXPECT_NE(Live().path, live.path);
}

TEST(LiveServer, RefusesAPortThatIsTaken) {
  Live live;
  const int port = std::stoi(live.origin.substr(live.origin.rfind(':') + 1));
  const auto second = LiveServer::open({.frame = "", .plan_version = {}, .plan = {}}, port);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "serve/cannot-listen");
}

TEST(LiveServer, WaitsUntilABrowserThatLooksOnHasTheLastPlan) {
  auto live = std::make_unique<Live>(Live{.farewell = std::chrono::seconds(5)});
  httplib::Client client(live->origin);
  const std::string path = live->path;
  live->version = "1";
  (void)live->state();
  bool heard = false;
  std::thread browser([&] {
    for (int look = 0; look < 100 && !heard; ++look) {
      const auto state = client.Get(path + "state");
      if (!state) return;
      heard = json::parse(state->body)["is_over"];
      (void)client.Get(path + "plan");
    }
    (void)client.Get(path + "state");
  });
  live->server.reset();
  browser.join();
  EXPECT_TRUE(heard);
}

}  // namespace
}  // namespace collage
