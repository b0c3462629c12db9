#include "serve/http_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/number_text.h"

namespace collage {
namespace {

constexpr std::size_t kBufferBytes = 16 * 1024;

int milliseconds_until(std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, 1'000'000));
}

}  // namespace

BodyLength body_length_of(const httplib::Request& request) {
  const bool has_encoding = request.has_header("Transfer-Encoding");
  const std::size_t lengths = request.get_header_value_count("Content-Length");
  if (lengths > 1 || (lengths == 1 && has_encoding)) return {.kind = BodyLength::Kind::kWrong};
  if (has_encoding)
    return {.kind = request.get_header_value("Transfer-Encoding") == "chunked" ? BodyLength::Kind::kChunked
                                                                               : BodyLength::Kind::kWrong};
  if (lengths == 0) return {};
  const auto bytes = number_in<std::uint64_t>(request.get_header_value("Content-Length"));
  if (!bytes) return {.kind = BodyLength::Kind::kWrong};
  return {.kind = BodyLength::Kind::kBytes, .bytes = *bytes};
}

HttpConnection::HttpConnection(int socket, int wake, const ConnectionLimits& limits)
    : socket_(socket), wake_(wake), limits_(limits), buffer_(kBufferBytes) {}

bool HttpConnection::poll_until(short events, Clock::time_point until) const {
  for (;;) {
    pollfd wanted{.fd = socket_, .events = events, .revents = 0};
    const int ready = ::poll(&wanted, 1, milliseconds_until(until));
    if (ready > 0) return true;
    if (ready == 0 && Clock::now() >= until) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool HttpConnection::await_request() {
  header_bytes_ = 0;
  header_lines_ = 0;
  body_bytes_ = 0;
  line_bytes_ = 0;
  length_.reset();
  is_writing_ = false;
  const Clock::time_point idle_until = Clock::now() + limits_.idle;
  while (begin_ == end_) {
    pollfd wanted[2] = {{.fd = socket_, .events = POLLIN, .revents = 0}, {.fd = wake_, .events = POLLIN, .revents = 0}};
    const int ready = ::poll(wanted, 2, milliseconds_until(idle_until));
    if (ready < 0 && errno == EINTR) continue;
    // A request that has arrived is answered even when the server ends.
    if (ready > 0 && wanted[0].revents != 0) break;
    if (ready != 0 || Clock::now() >= idle_until) return false;
  }
  until_ = Clock::now() + limits_.client;
  return true;
}

void HttpConnection::begin_body(const BodyLength& length) { length_ = length; }

bool HttpConnection::is_body_read() const {
  if (!length_) return false;
  switch (length_->kind) {
    case BodyLength::Kind::kNone:
      return true;
    case BodyLength::Kind::kBytes:
      return body_bytes_ == length_->bytes;
    case BodyLength::Kind::kChunked:  // the library does not tell whether it saw the last chunk
    case BodyLength::Kind::kWrong:
      return false;
  }
  return false;
}

ssize_t HttpConnection::receive(char* to, std::size_t size) {
  // The time to arrive holds for a client that sends a byte now and then, too.
  while (Clock::now() < until_) {
    const ssize_t got = ::recv(socket_, to, size, MSG_DONTWAIT);
    if (got >= 0) return got;
    if (errno == EINTR) continue;
    if (errno != EAGAIN || !poll_until(POLLIN, until_)) return -1;
  }
  return -1;
}

void HttpConnection::read_body(std::string& body, std::size_t bytes) {
  // The second argument may be the capacity, which is more than was asked for (libstdc++ 12).
  body.resize_and_overwrite(bytes, [this, bytes](char* to, std::size_t) {
    std::size_t got = std::min(bytes, end_ - begin_);
    std::memcpy(to, buffer_.data() + begin_, got);
    begin_ += got;
    while (got < bytes) {
      const ssize_t more = receive(to + got, bytes - got);
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    return got;
  });
  body_bytes_ += body.size();
}

bool HttpConnection::is_within_header_limits(const char* bytes, std::size_t size) {
  header_bytes_ += size;
  header_lines_ += static_cast<std::size_t>(std::count(bytes, bytes + size, '\n'));
  return header_bytes_ <= limits_.header_bytes && header_lines_ <= limits_.header_lines;
}

bool HttpConnection::is_within_line_limit(char byte, std::size_t asked) {
  // The library reads a line byte by byte into a text that grows, and the bytes of a chunk as many at once as it can.
  line_bytes_ = asked > 1 || byte == '\n' ? 0 : line_bytes_ + 1;
  return line_bytes_ <= limits_.header_bytes;
}

bool HttpConnection::is_within_limits(const char* bytes, std::size_t size, std::size_t asked) {
  if (!length_) return is_within_header_limits(bytes, size);
  body_bytes_ += size;
  return length_->kind != BodyLength::Kind::kChunked || is_within_line_limit(*bytes, asked);
}

ssize_t HttpConnection::read(char* to, std::size_t size) {
  // "100 Continue" is written before the body is read; the answer behind the body has a time of its own.
  is_writing_ = false;
  if (begin_ == end_) {
    const ssize_t got = receive(buffer_.data(), buffer_.size());
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
  }
  const std::size_t taken = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, taken);
  begin_ += taken;
  return is_within_limits(to, taken, size) ? static_cast<ssize_t>(taken) : -1;
}

ssize_t HttpConnection::write(const char* from, std::size_t size) {
  if (!is_writing_) {
    is_writing_ = true;
    until_ = Clock::now() + limits_.client;
  }
  for (;;) {
    const ssize_t put = ::send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) return put;
    if (errno == EINTR) continue;
    if (errno != EAGAIN || !poll_until(POLLOUT, until_)) return -1;
  }
}

void HttpConnection::linger() {
  ::shutdown(socket_, SHUT_WR);
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(500);
  std::size_t drained = 0;
  while (drained < std::size_t{64} << 20U && poll_until(POLLIN, until)) {
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got <= 0) return;
    drained += static_cast<std::size_t>(got);
  }
}

}  // namespace collage
