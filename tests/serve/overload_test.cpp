// More than the server can do: what waits is bounded, what is too late or too much is told so, the end loses nothing.
#include <atomic>

#include <fmt/format.h>

#include "tests/serve/serve_fixture.h"

namespace collage::test {
namespace {

using namespace std::chrono_literals;

class OverloadTest : public ServeTest {
 protected:
  /// One session, no joining: while the gate is closed one request runs and all others wait.
  void start_narrow(std::size_t queue, HttpOptions http = {}, std::chrono::microseconds deadline = {}) {
    start({.sessions = 1, .queue_limit = queue, .joins = false, .backend_places = {}}, http, deadline);
  }

  /// Sends a good request from a thread of its own.
  void send_later() { send_later(post_text(kInfer, infer_text({1, 2, 3, 4}))); }
  void send_later(const std::string& bytes) {
    senders_.emplace_back([this, bytes] {
      if (exchanged(port(), bytes).status == 200) ++answered_;
    });
  }
  /// Occupies the session and puts so many requests into the queue.
  void fill(std::size_t waiting) {
    close_gate();
    send_later();
    await_held();
    for (std::size_t i = 0; i < waiting; ++i) send_later();
    await_queue(waiting);
  }
  void join() {
    for (std::thread& sender : senders_) sender.join();
    senders_.clear();
  }
  ~OverloadTest() override {
    open_gate();
    join();
  }

  std::vector<std::thread> senders_;
  std::atomic<int> answered_{0};
};

TEST_F(OverloadTest, AFullQueueRefusesAndForgetsNothing) {
  start_narrow(3);
  fill(3);
  const Reply reply = post(kInfer, infer_text({1, 2, 3, 4}));
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.code(), "serve/queue-full");
  open_gate();
  join();
  EXPECT_EQ(answered_, 4);
  expect_alive();
}

TEST_F(OverloadTest, ARequestThatWaitsPastItsTimeoutIsToldSo) {
  start_narrow(8);
  fill(1);
  const Reply reply = post(kInfer, infer_text({1, 2, 3, 4}, R"(,"parameters":{"timeout":1000})"));
  EXPECT_EQ(reply.status, 504);
  EXPECT_EQ(reply.code(), "serve/deadline");
  open_gate();
  join();
  EXPECT_EQ(answered_, 2) << "requests without a timeout wait";
}

TEST_F(OverloadTest, TheServersDeadlineHoldsForRequestsWithoutOne) {
  start_narrow(8, {}, 200ms);
  close_gate();
  send_later();
  await_held();
  EXPECT_EQ(post(kInfer, infer_text({1, 2, 3, 4})).code(), "serve/deadline");
  open_gate();
}

TEST_F(OverloadTest, NoRequestWaitsForOthersPastItsTimeout) {
  // A client waits for its answer for less than the hour that a batch may wait.
  start({.sessions = 1, .batch_delay = 1h, .backend_places = {}});
  ASSERT_TRUE(host().current()->batch_rule());
  EXPECT_EQ(post(kInfer, infer_text({1, 2, 3, 4}, R"(,"parameters":{"timeout":20000})")).status, 200);
}

TEST_F(OverloadTest, SmallBodiesInChunksDoNotTakeTheRoomOfLargeOnes) {
  start_narrow(32);
  close_gate();
  send_later(chunked_text());
  await_held();
  for (std::size_t i = 1; i < 20; ++i) {
    send_later(chunked_text());
    await_queue(i);
  }
  open_gate();
  join();
  EXPECT_EQ(answered_, 20);
}

TEST_F(OverloadTest, BodiesThatTakeTooMuchMemoryTogetherAreRefused) {
  start_narrow(8, {.most_body_bytes = 4096});
  const std::string large = infer_text({1, 2, 3, 4}) + std::string(3900, ' ');
  close_gate();
  send_later(post_text(kInfer, large));
  await_held();
  const Reply reply = post(kInfer, large);
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.code(), "serve/busy");
  open_gate();
  join();
  EXPECT_EQ(answered_, 1);
  EXPECT_EQ(post(kInfer, large).status, 200) << "the room is given back";
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their allocators end the process
TEST_F(OverloadTest, ABodyThatNoMemoryHoldsIsToldSo) {
  start_narrow(8, {.most_body_bytes = std::size_t{1} << 58U});
  const RawClient client(port());
  ASSERT_TRUE(client.send(
      fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", kInfer, std::size_t{1} << 57U)));
  const Reply reply = client.receive();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.code(), "memory/exhausted");
  expect_alive();
}
#endif

TEST_F(OverloadTest, TheEndFinishesWhatHasArrived) {
  start_narrow(8);
  fill(4);
  std::thread end([this] { stop(); });
  std::this_thread::sleep_for(20ms);
  open_gate();
  end.join();
  join();
  EXPECT_EQ(answered_, 5);
}

TEST_F(OverloadTest, IdleConnectionsDoNotHoldUpTheEnd) {
  start_narrow(8);
  const RawClient idle(port());
  expect_alive();
  stop();
  EXPECT_EQ(idle.receive().status, 0);
}

TEST_F(OverloadTest, TheEndAnswersClientsThatWereNotAcceptedYet) {
  start_narrow(8);
  const auto server = HttpServer::open(service(), {});
  ASSERT_TRUE(server);
  const RawClient client((*server)->port());
  ASSERT_TRUE(client.send("GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n"));
  (*server)->stop();
  (*server)->run();
  EXPECT_EQ(client.receive().status, 200);
}

TEST_F(OverloadTest, AClientThatIsTurnedAwayCanReadWhy) {
  start_narrow(8);
  const auto server = HttpServer::open(service(), {.most_connections = 1});
  ASSERT_TRUE(server);
  const RawClient first((*server)->port());
  const RawClient second((*server)->port());
  ASSERT_TRUE(second.send("GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n"));
  std::thread serving([&] { (*server)->run(); });
  EXPECT_EQ(second.receive().code(), "serve/busy");
  EXPECT_TRUE(second.ends_in_order());
  (*server)->stop();
  serving.join();
}

TEST_F(OverloadTest, MoreConnectionsThanAllowedAreTurnedAway) {
  start_narrow(8, {.most_connections = 2});
  const RawClient first(port());
  const RawClient second(port());
  const std::string live = "GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n";
  ASSERT_TRUE(first.send(live) && second.send(live));
  ASSERT_EQ(first.receive().status, 200);
  ASSERT_EQ(second.receive().status, 200);
  const RawClient third(port());
  const Reply reply = third.receive();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.code(), "serve/busy");
}

TEST_F(OverloadTest, AClientThatSendsTooSlowlyLosesItsConnection) {
  start_narrow(8, {.client_timeout = 100ms});
  const RawClient slow(port());
  const std::string request = post_text(kInfer, infer_text({1, 2, 3, 4}));
  bool is_open = true;
  // A byte each 20 ms: no single wait is long, the whole request is.
  for (std::size_t i = 0; is_open && i < request.size(); ++i) {
    is_open = slow.send(request.substr(i, 1));
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_FALSE(is_open);
  expect_alive();
}

TEST_F(OverloadTest, ManyClientsWithGoodAndBadRequestsAreAllAnswered) {
  start({.sessions = 2, .backend_places = {}});
  std::atomic<int> good{0};
  std::atomic<int> bad{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c)
    clients.emplace_back([&, c] {
      for (int i = 0; i < 40; ++i) {
        const auto number = static_cast<float>(c * 100 + i);
        const bool is_bad = i % 8 == 7;
        const Reply reply = post(kInfer, infer_text({is_bad ? 666 : number, 0, 0, 0}));
        if (is_bad && reply.code() == "runtime/bad-operand") ++bad;
        if (!is_bad && reply.status == 200 && reply.json()["outputs"][0]["data"][0] == number + 1) ++good;
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 8 * 35);
  EXPECT_EQ(bad, 8 * 5);
}

}  // namespace
}  // namespace collage::test
