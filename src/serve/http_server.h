// The HTTP front of a service.
// In:  connections. Out: answers; see docs/SERVE.md for addresses and limits.
// How: cpp-httplib binds the port, reads requests and writes answers; a connection has a thread, which waits while a
//       session computes. Accepting connections, their limits and their end are ours (serve/http_connection.h).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serve/http_service.h"

namespace collage {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;  ///< 0 = any that is free
  std::size_t most_body_bytes = std::size_t{64} << 20U;
  std::size_t most_connections = 512;
  std::chrono::milliseconds client_timeout{30'000};
  std::chrono::milliseconds idle_timeout{60'000};
};

class HttpServer {
 public:
  /// Binds the port. The service outlives the server. Error serve/cannot-listen (I/O).
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> open(HttpService& service, const HttpOptions& options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const;
  /// Accepts connections until stop(), then returns when those open have their answers.
  void run();
  /// From any thread, also more than once.
  void stop();

 private:
  class Front;
  explicit HttpServer(std::unique_ptr<Front> front);
  std::unique_ptr<Front> front_;
};

}  // namespace collage
