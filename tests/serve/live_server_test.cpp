#include "serve/live_server.h"
#include "base/json_numbers.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <thread>

namespace collage {
namespace {

using nlohmann::json;

/// A server with a page, and a plan once it has a version.
class Live {
 public:
  explicit Live(std::chrono::milliseconds farewell = {}) {
    server = LiveServer::open({.frame = "<p>frame</p>",
                               .plan_version = [this] { return version(); },
                               .plan = [this]() -> Result<std::string> {
                                 if (version().empty())
                                   return fail(ExitCode::kIo, "plan/missing", "plan", "nothing", "a plan");
                                 return "<p>plan " + version() + "</p>";
                               },
                               .farewell = farewell},
                              0)
                 .value();
    const std::string address = server->address();
    path = address.substr(address.find('/', 8));
    origin = address.substr(0, address.size() - path.size());
    client = std::make_unique<httplib::Client>(origin);
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  json state() { return json::parse(client->Get(path + "state")->body); }
  void set_version(const std::string& version) {
    const std::scoped_lock lock(mutex_);
    version_ = version;
  }
  int port() const { return std::stoi(origin.substr(origin.rfind(':') + 1)); }

  std::unique_ptr<LiveServer> server;
  std::string path;
  std::string origin;
  std::unique_ptr<httplib::Client> client;

 private:
  std::string version() {
    const std::scoped_lock lock(mutex_);
    return version_;
  }

  std::mutex mutex_;
  std::string version_;
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
  EXPECT_EQ(live.client->Get(live.path + "plan")->status, 404);
  live.set_version("2");
  EXPECT_EQ(live.state()["plan"], "2");
  EXPECT_EQ(live.client->Get(live.path + "plan")->body, "<p>plan 2</p>");
}

TEST(LiveServer, AnswersOnlyWhoKnowsTheTokenAndAsksThisMachine) {
  Live live;
  EXPECT_EQ(live.client->Get(live.path)->body, "<p>frame</p>");
  EXPECT_EQ(live.path.size(), 34U) << "128 bits between two /";
  for (const std::string path : {"/", "/state", "/0123456789abcdef0123456789abcdef/"})
    EXPECT_EQ(live.client->Get(path)->status, 404) << path;
  EXPECT_EQ(live.client->Get(live.path, {{"Host", "elsewhere.example:80"}})->status, 403);
  EXPECT_NE(Live().path, live.path);
}

TEST(LiveServer, RefusesAPortThatIsTaken) {
  Live live;
  const auto second = LiveServer::open({.frame = "", .plan_version = {}, .plan = {}}, live.port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "serve/cannot-listen");
}

TEST(LiveServer, WaitsUntilABrowserThatLooksOnHasTheLastPlan) {
  Live live(std::chrono::seconds(20));
  live.set_version("1");
  EXPECT_EQ(live.state()["plan"], "1");
  bool has_heard = false;
  std::thread browser([&] {
    httplib::Client client(live.origin);
    for (int look = 0; look < 1000 && !has_heard; ++look) {
      const auto state = client.Get(live.path + "state");
      if (!state) return;
      has_heard = json::parse(state->body)["is_over"];
      (void)client.Get(live.path + "plan");
    }
    (void)client.Get(live.path + "state");
  });
  const auto begin = std::chrono::steady_clock::now();
  live.server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  browser.join();
  EXPECT_TRUE(has_heard);
}

TEST(LiveServer, EndsWhateverClientsDo) {
  Live live;
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(live.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string half = "GET " + live.path + "sta";
  ASSERT_EQ(::send(client, half.data(), half.size(), 0), static_cast<ssize_t>(half.size()));
  const auto begin = std::chrono::steady_clock::now();
  live.server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
  ::close(client);
}

TEST(LiveServer, TakesNoBodies) {
  Live live;
  const auto answer = live.client->Post(live.path + "state", std::string(1 << 20, 'x'), "text/plain");
  ASSERT_TRUE(answer);
  EXPECT_GE(answer->status, 400);
}

}  // namespace
}  // namespace collage
