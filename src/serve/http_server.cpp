#include "serve/http_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/number_text.h"
#include "serve/body_budget.h"
#include "serve/guarded.h"
#include "serve/http_connection.h"
#include "serve/status.h"

namespace collage {
namespace {

/// A longer path is no address of ours; the library matches paths by a recursive function.
constexpr std::size_t kLongestPath = 1024;
/// Connections that wait to be accepted.
constexpr int kBacklog = 512;
/// Bodies in memory at once may have so many times the bytes of the largest one.
constexpr std::size_t kBodiesAtOnce = 16;
/// What the numbers of a JSON text take, at most, in bytes for each of its bytes (serve/request_reader.h).
constexpr std::size_t kJsonGrowth = 8;

std::unexpected<Error> bad_http(std::string code, std::string where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, std::move(code), std::move(where), std::move(saw), std::move(allowed));
}

std::unexpected<Error> cut_body(std::size_t bytes) {
  return bad_http("serve/bad-http", "body", fmt::format("{} bytes, then an end", bytes),
                  "a whole body in time, plain or compressed by gzip, deflate or brotli");
}

std::unexpected<Error> too_busy() {
  return fail(ExitCode::kLimit, "serve/busy", "body", "too many large requests at once", "another try later");
}

bool is_plain_path(const std::string& path) {
  return path.size() <= kLongestPath && std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~'; });
}

std::optional<std::string> json_bytes_of(const httplib::Request& request) {
  if (!request.has_header("Inference-Header-Content-Length")) return std::nullopt;
  return request.get_header_value("Inference-Header-Content-Length");
}

/// "" when the client names none.
std::string_view host_of(const httplib::Request& request) {
  const auto found = request.headers.find("Host");
  return found == request.headers.end() ? std::string_view() : found->second;
}

/// How much of a body is JSON; all of it where the header says nothing that fits.
std::size_t json_size(const std::optional<std::string>& told, std::size_t body) {
  const auto bytes = told ? number_in<std::uint64_t>(*told) : std::nullopt;
  return bytes ? std::min<std::uint64_t>(*bytes, body) : body;
}

/// What is thrown while a request is read or routed.
Error error_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return no_memory("request", "a smaller request").error();
  } catch (...) {
    return bad_http("serve/bad-http", "request", "what the HTTP library cannot read", "HTTP/1.1").error();
  }
}

/// Takes what a client has sent: a socket with unread bytes is reset when it is closed, which can lose the answer.
void drain(int socket) {
  constexpr int kMostPieces = 16;
  std::array<char, 4096> bytes;
  for (int i = 0; i < kMostPieces; ++i)
    if (::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) return;
}

/// Whether the body was read with the headers, or there is none: only then can another request follow a refusal.
bool has_whole_body(const httplib::Request& request) {
  const BodyLength length = body_length_of(request);
  return length.kind == BodyLength::Kind::kNone ||
         (length.kind == BodyLength::Kind::kBytes && length.bytes == request.body.size());
}

/// The connection is closed behind this answer.
void announce_close(httplib::Response& response) {
  response.headers.erase("Connection");
  response.headers.erase("Keep-Alive");
  response.set_header("Connection", "close");
}

}  // namespace

/// The library's server, of which only its parser, its writer and its way to bind a port are used.
class HttpServer::Front final : public httplib::Server {
 public:
  Front(HttpService& service, const HttpOptions& options);
  ~Front() override;

  [[nodiscard]] Result<void> open();
  [[nodiscard]] int bound_port() const { return port_; }
  void run();
  void end();

 private:
  void set_handlers();
  HandlerResponse before_routing(const httplib::Request& request, httplib::Response& response);
  void answer_with_body(const httplib::Request& request, httplib::Response& response,
                        const httplib::ContentReader& read);
  [[nodiscard]] bool is_plain_body(const httplib::Request& request, const BodyLength& length) const;
  [[nodiscard]] Result<std::string> read_body(const httplib::Request& request, const httplib::ContentReader& read,
                                              BodyBudget& budget);
  void read_plain_body(HttpConnection& connection, httplib::Request& request, std::size_t bytes);
  void give(ServiceAnswer answer, httplib::Response& response) const;
  void refuse(httplib::Response& response, const Error& error);
  void refuse_and_close(httplib::Response& response, const Error& error);
  [[nodiscard]] std::string last_answer(const Error& error);

  [[nodiscard]] int accept_one();
  void start_connection(int socket);
  void serve_connection(int socket);
  void turn_away(int socket);
  void accept_the_last();
  void wait_for_connections();

  HttpService& service_;
  const HttpOptions options_;
  const ConnectionLimits limits_;
  int wake_ = -1;  ///< readable once the server ends
  int port_ = 0;
  std::atomic<bool> is_ending_{false};
  std::atomic<std::size_t> body_bytes_{0};
  std::mutex mutex_;
  std::condition_variable fewer_;
  std::size_t connections_ = 0;
};

HttpServer::Front::Front(HttpService& service, const HttpOptions& options)
    : service_(service),
      options_(options),
      limits_{.client = options.client_timeout, .idle = options.idle_timeout},
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  set_payload_max_length(options.most_body_bytes);
  set_keep_alive_timeout(std::chrono::duration_cast<std::chrono::seconds>(options.idle_timeout).count());
  set_keep_alive_max_count(1'000'000);
  set_handlers();
  service_.count_connections_with([this] {
    const std::scoped_lock lock(mutex_);
    return connections_;
  });
}

HttpServer::Front::~Front() {
  if (svr_sock_ != INVALID_SOCKET) ::close(svr_sock_);
  ::close(wake_);
}

void HttpServer::Front::set_handlers() {
  set_pre_routing_handler([this](const auto& request, auto& response) { return before_routing(request, response); });
  Post(".*", [this](const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& read) {
    answer_with_body(request, response, read);
  });
  set_error_handler([this](const httplib::Request&, httplib::Response& response) {
    if (!response.body.empty() || response.content_length_ > 0) return;
    const int status = response.status;
    refuse_and_close(response, bad_http("serve/bad-http", "request", fmt::format("what ends in status {}", status),
                                        fmt::format("HTTP/1.1 with at most {} lines and {} bytes of headers",
                                                    limits_.header_lines, limits_.header_bytes))
                                   .error());
    response.status = status;
  });
  set_exception_handler([this](const httplib::Request&, httplib::Response& response, const std::exception_ptr& thrown) {
    refuse_and_close(response, error_of(thrown));
  });
  set_post_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    // After chunks, or a body that no address asks for, nobody knows where the next request would begin.
    const bool is_chunked = body_length_of(request).kind == BodyLength::Kind::kChunked;
    const bool is_unread = request.method != "POST" && !has_whole_body(request);
    if (is_ending_ || is_chunked || is_unread || response.get_header_value("Connection") == "close")
      announce_close(response);
  });
}

void HttpServer::Front::give(ServiceAnswer answer, httplib::Response& response) const {
  response.status = answer.status;
  if (answer.binary.empty()) return response.set_content(std::move(answer.text), answer.type);
  response.set_header("Inference-Header-Content-Length", std::to_string(answer.text.size()));
  std::size_t bytes = answer.text.size();
  for (const std::string& part : answer.binary) bytes += part.size();
  auto parts = std::make_shared<std::vector<std::string>>(std::move(answer.binary));
  parts->insert(parts->begin(), std::move(answer.text));
  response.set_content_provider(bytes, answer.type, [parts](std::size_t, std::size_t, httplib::DataSink& sink) {
    for (const std::string& part : *parts)
      if (!part.empty() && !sink.write(part.data(), part.size())) return false;
    return true;
  });
}

void HttpServer::Front::refuse(httplib::Response& response, const Error& error) {
  give(service_.refusal(error), response);
}

void HttpServer::Front::refuse_and_close(httplib::Response& response, const Error& error) {
  announce_close(response);
  refuse(response, error);
}

/// A whole answer, for a connection on which the library cannot give one.
std::string HttpServer::Front::last_answer(const Error& error) {
  const std::string body = service_.refusal(error).text;
  return fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body.size(), body);
}

httplib::Server::HandlerResponse HttpServer::Front::before_routing(const httplib::Request& request,
                                                                   httplib::Response& response) {
  const std::string shown = request.path.substr(0, 80);
  if (!is_plain_path(request.path)) {
    refuse(response, bad_http("serve/not-found", shown, "a path with other characters or a longer one",
                              fmt::format("at most {} printable characters", kLongestPath))
                         .error());
    if (!has_whole_body(request)) announce_close(response);
    return HandlerResponse::Handled;
  }
  if (request.method == "POST") return HandlerResponse::Unhandled;
  give(service_.answer(
           {.method = request.method, .path = request.path, .json_bytes = {}, .body = {}, .host = host_of(request)}),
       response);
  return HandlerResponse::Handled;
}

/// Whether its bytes can be read as they are. A client that expects to be told to go on has not sent them yet.
bool HttpServer::Front::is_plain_body(const httplib::Request& request, const BodyLength& length) const {
  return request.method == "POST" && length.kind == BodyLength::Kind::kBytes && length.bytes > 0 &&
         length.bytes <= options_.most_body_bytes && !request.has_header("Content-Encoding") &&
         !request.has_header("Expect") && !request.is_multipart_form_data();
}

Result<std::string> HttpServer::Front::read_body(const httplib::Request& request, const httplib::ContentReader& read,
                                                 BodyBudget& budget) {
  const BodyLength length = body_length_of(request);
  const std::size_t most = options_.most_body_bytes;
  if (length.kind == BodyLength::Kind::kWrong)
    return bad_http("serve/no-length", "body", "no usable length", "one Content-Length, or chunks");
  if (length.kind == BodyLength::Kind::kNone) return std::string();
  if (request.is_multipart_form_data())
    return bad_http("serve/wrong-encoding", "body", "multipart form data", "JSON, or JSON and tensors");
  if (length.kind == BodyLength::Kind::kBytes && length.bytes > most)
    return bad_http("serve/body-too-large", "body", fmt::format("{} bytes", length.bytes),
                    fmt::format("at most {} (--max-body)", most));
  const bool is_known = length.kind == BodyLength::Kind::kBytes && !request.has_header("Content-Encoding");
  const std::size_t reserved = is_known ? length.bytes : most;
  if (!budget.take(reserved, kBodiesAtOnce * most)) return too_busy();
  std::string body;
  bool is_too_large = false;
  const bool is_read = read([&](const char* bytes, std::size_t size) {
    is_too_large = size > most - body.size();
    if (!is_too_large) body.append(bytes, size);
    return !is_too_large;
  });
  if (is_too_large)
    return bad_http("serve/body-too-large", "body", fmt::format("more than {} bytes", most),
                    fmt::format("at most {} (--max-body)", most));
  if (!is_read) return cut_body(body.size());
  budget.give_back(reserved - body.size());
  return body;
}

void HttpServer::Front::answer_with_body(const httplib::Request& request, httplib::Response& response,
                                         const httplib::ContentReader& read) {
  BodyBudget budget(body_bytes_);
  // A plain body was read with the headers; others come through the library, which unpacks them.
  Result<std::string> unpacked;
  std::string_view body = request.body;
  if (request.body.empty()) {
    unpacked = read_body(request, read, budget);
    if (!unpacked) return refuse_and_close(response, unpacked.error());
    body = *unpacked;
  } else if (request.body.size() != body_length_of(request).bytes) {
    return refuse_and_close(response, cut_body(request.body.size()).error());
  }
  std::optional<std::string> json_bytes = json_bytes_of(request);
  if (!budget.take(kJsonGrowth * json_size(json_bytes, body.size()), kBodiesAtOnce * options_.most_body_bytes))
    return refuse(response, too_busy().error());
  give(service_.answer({.method = request.method,
                        .path = request.path,
                        .json_bytes = std::move(json_bytes),
                        .body = body,
                        .host = {}}),
       response);
}

Result<void> HttpServer::Front::open() {
  set_address_family(AF_UNSPEC);
  set_socket_options([](int socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const bool is_bound = options_.port == 0 ? (port_ = bind_to_any_port(options_.host)) > 0
                                           : bind_to_port(options_.host, port_ = options_.port);
  if (!is_bound || ::listen(svr_sock_, kBacklog) != 0)
    return fail(ExitCode::kIo, "serve/cannot-listen", fmt::format("{}:{}", options_.host, options_.port),
                "an address or port that cannot be used", "an address of this machine and a free port");
  // Accepting never waits: it follows poll(), and the end accepts until nobody is left.
  const int flags = ::fcntl(svr_sock_, F_GETFL);
  ::fcntl(svr_sock_, F_SETFL, flags | O_NONBLOCK);
  return {};
}

int HttpServer::Front::accept_one() {
  pollfd wanted[2] = {{.fd = svr_sock_, .events = POLLIN, .revents = 0}, {.fd = wake_, .events = POLLIN, .revents = 0}};
  if (::poll(wanted, 2, -1) <= 0 || is_ending_) return -1;
  const int socket = ::accept4(svr_sock_, nullptr, nullptr, SOCK_CLOEXEC);
  // Whatever the reason (no descriptors, a client that is gone): later connections are not to suffer.
  if (socket < 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return socket;
}

/// Clients that were connected before the end may have sent a request.
void HttpServer::Front::accept_the_last() {
  for (int i = 0; i <= kBacklog; ++i) {
    const int socket = ::accept4(svr_sock_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0)
      start_connection(socket);
    else if (errno == EAGAIN)
      return;
  }
}

void HttpServer::Front::run() {
  while (!is_ending_)
    if (const int socket = accept_one(); socket >= 0) start_connection(socket);
  accept_the_last();
  ::shutdown(svr_sock_, SHUT_RDWR);
  wait_for_connections();
}

void HttpServer::Front::end() {
  is_ending_ = true;
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

void HttpServer::Front::turn_away(int socket) {
  const std::string answer =
      last_answer(fail(ExitCode::kLimit, "serve/busy", "connections",
                       fmt::format("{} that are open", options_.most_connections), "at most so many; try again later")
                      .error());
  (void)!::send(socket, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(socket, SHUT_WR);
  drain(socket);
  ::close(socket);
}

void HttpServer::Front::start_connection(int socket) {
  {
    std::unique_lock lock(mutex_);
    if (connections_ >= options_.most_connections) {
      lock.unlock();
      return turn_away(socket);
    }
    ++connections_;
  }
  const auto leave = [this, socket] {
    ::close(socket);
    const std::scoped_lock lock(mutex_);
    --connections_;
    fewer_.notify_all();
  };
  try {
    std::thread([this, socket, leave] {
      try {
        serve_connection(socket);
      } catch (...) {  // no memory for its buffers: only this connection ends
      }
      leave();
    }).detach();
  } catch (...) {  // no thread, or no memory for one
    leave();
  }
}

/// The library catches nothing here: without memory the client is told, and the exception ends its connection.
void HttpServer::Front::read_plain_body(HttpConnection& connection, httplib::Request& request, std::size_t bytes) {
  try {
    connection.read_body(request.body, bytes);
  } catch (const std::bad_alloc&) {
    const std::string answer = last_answer(no_memory("request", "a smaller request").error());
    (void)connection.write(answer.data(), answer.size());
    connection.linger();
    throw;
  }
}

void HttpServer::Front::serve_connection(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  HttpConnection connection(socket, wake_, limits_);
  bool is_read = true;
  while (connection.await_request()) {
    bool is_closed = false;
    BodyBudget budget(body_bytes_);
    const bool is_good = process_request(connection, is_ending_, is_closed, [&](httplib::Request& request) {
      const BodyLength length = body_length_of(request);
      connection.begin_body(length);
      request.ranges.clear();
      if (is_plain_body(request, length) && budget.take(length.bytes, kBodiesAtOnce * options_.most_body_bytes))
        read_plain_body(connection, request, length.bytes);
    });
    is_read = connection.is_body_read();
    if (!is_good || is_closed || is_ending_ || !is_read) break;
  }
  if (!is_read) connection.linger();
}

void HttpServer::Front::wait_for_connections() {
  std::unique_lock lock(mutex_);
  fewer_.wait(lock, [this] { return connections_ == 0; });
}

HttpServer::HttpServer(std::unique_ptr<Front> front) : front_(std::move(front)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::open(HttpService& service, const HttpOptions& options) {
  auto front = std::make_unique<Front>(service, options);
  COLLAGE_TRY_VOID(front->open());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(front)));
}

int HttpServer::port() const { return front_->bound_port(); }
void HttpServer::run() { front_->run(); }
void HttpServer::stop() { front_->end(); }

}  // namespace collage
