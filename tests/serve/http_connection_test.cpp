#include "serve/http_connection.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace collage {
namespace {

using namespace std::chrono_literals;

/// Both ends of a connection.
struct ConnectionPair {
  ConnectionPair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0); }
  ~ConnectionPair() {
    for (const int end : {ends[0], ends[1], wake}) ::close(end);
  }
  int ends[2] = {-1, -1};
  int wake = ::eventfd(0, EFD_CLOEXEC);
};

/// Reads until the other end is closed; returns how many bytes came.
std::size_t drained(int socket) {
  std::vector<char> bytes(1 << 16);
  std::size_t count = 0;
  for (ssize_t got = 1; got > 0; count += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
    got = ::recv(socket, bytes.data(), bytes.size(), 0);
  return count;
}

TEST(HttpConnection, AnAnswerBehindAWordToGoOnHasATimeOfItsOwn) {
  const ConnectionPair pair;
  const ConnectionLimits limits{.client = 1s};
  HttpConnection connection(pair.ends[0], pair.wake, limits);
  ASSERT_EQ(::send(pair.ends[1], "ab", 2, 0), 2);
  ASSERT_TRUE(connection.await_request());
  connection.begin_body({.kind = BodyLength::Kind::kBytes, .bytes = 2});
  ASSERT_EQ(connection.write("go on", 5), 5);
  char body[2];
  ASSERT_EQ(connection.read(body, 2), 2);
  std::this_thread::sleep_for(1100ms);  // the run of the request
  std::size_t received = 0;
  // The client takes nothing at first, so that the answer has to wait.
  std::thread client([&] {
    std::this_thread::sleep_for(100ms);
    received = drained(pair.ends[1]);
  });
  const std::string answer(std::size_t{4} << 20U, 'a');
  std::size_t sent = 0;
  for (ssize_t put = 1; put > 0 && sent < answer.size(); sent += static_cast<std::size_t>(std::max<ssize_t>(put, 0)))
    put = connection.write(answer.data() + sent, answer.size() - sent);
  ::shutdown(pair.ends[0], SHUT_WR);
  client.join();
  EXPECT_EQ(sent, answer.size());
  EXPECT_EQ(received, answer.size() + 5);
}

}  // namespace
}  // namespace collage
