// A client's connection as the HTTP library reads and writes it, with limits on what a client may do: how many bytes
// and lines come before a body and between its chunks, how long a request takes to arrive and an answer to be taken.
// Threads: one; a connection has a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <httplib.h>

namespace collage {

struct ConnectionLimits {
  std::chrono::milliseconds client{30'000};  ///< for a request to arrive, and for its answer to be taken
  std::chrono::milliseconds idle{60'000};    ///< between requests
  std::size_t header_bytes = 32 * 1024;      ///< also of a line between the chunks of a body
  std::size_t header_lines = 100;
};

/// How many bytes of body the headers announce.
struct BodyLength {
  enum class Kind : std::uint8_t { kNone, kBytes, kChunked, kWrong };
  Kind kind = Kind::kNone;
  std::uint64_t bytes = 0;
};
[[nodiscard]] BodyLength body_length_of(const httplib::Request& request);

class HttpConnection final : public httplib::Stream {
 public:
  /// Does not own the descriptors. `wake` becomes readable when the server ends.
  HttpConnection(int socket, int wake, const ConnectionLimits& limits);

  /// Waits for the first byte of a request. False when the client closed, was idle too long, or the server ends.
  [[nodiscard]] bool await_request();
  /// The headers are read: what follows is the body.
  void begin_body(const BodyLength& length);
  /// Reads so many bytes of body straight into `body`; fewer when the client stops or is too slow. The library would
  /// read them by four kilobytes, through two more copies.
  void read_body(std::string& body, std::size_t bytes);
  /// Whether the body was read to its end, so that another request can follow.
  [[nodiscard]] bool is_body_read() const;
  /// Lets the client take the last answer before the socket is closed: unread bytes would reset the connection.
  void linger();

  [[nodiscard]] bool is_readable() const override { return true; }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  /// None: the library would refuse those above FD_SETSIZE.
  [[nodiscard]] socket_t socket() const override { return -1; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool poll_until(short events, Clock::time_point until) const;
  [[nodiscard]] ssize_t receive(char* to, std::size_t size);
  /// Of bytes that were read, when so many were asked for.
  [[nodiscard]] bool is_within_limits(const char* bytes, std::size_t size, std::size_t asked);
  [[nodiscard]] bool is_within_header_limits(const char* bytes, std::size_t size);
  [[nodiscard]] bool is_within_line_limit(char byte, std::size_t asked);

  const int socket_;
  const int wake_;
  const ConnectionLimits& limits_;
  std::vector<char> buffer_;  ///< received but not yet read: bytes begin_ to end_
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  Clock::time_point until_;           ///< when the request must have arrived
  std::optional<BodyLength> length_;  ///< once the headers are read
  std::uint64_t body_bytes_ = 0;      ///< of the body, read
  std::size_t header_bytes_ = 0;
  std::size_t header_lines_ = 0;
  std::size_t line_bytes_ = 0;  ///< of the line between two chunks of the body
  bool is_writing_ = false;
};

}  // namespace collage
