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
  void send_later() {
    senders_.emplace_back([this] {
      const Reply reply = post(kInfer, infer_text({1, 2, 3, 4}));
      if (reply.status == 200) ++answered_;
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
