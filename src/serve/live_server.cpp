#include "serve/live_server.h"

#include <httplib.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "serve/live_state.h"

namespace collage {
namespace {


constexpr const char* kHost = "127.0.0.1";
constexpr std::size_t kThreads = 2;
/// A browser that asked so lately is still looking.
constexpr auto kLooking = std::chrono::seconds(6);

Result<std::string> random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(ExitCode::kIo, "serve/cannot-listen", "--serve", "no random numbers", "a system with getrandom()");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace

class LiveServer::Front {
 public:
  Front(LivePages pages, std::string token) : pages_(std::move(pages)), token_(std::move(token)) { route(); }
  ~Front() {
    state_.end();
    is_over_ = true;
    const auto until = Clock::now() + pages_.farewell;
    while (is_watched() && !has_heard_ && Clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  Result<void> listen(int port) {
    port_ = port == 0 ? server_.bind_to_any_port(kHost) : server_.bind_to_port(kHost, port) ? port : -1;
    if (port_ <= 0)
      return fail(ExitCode::kIo, "serve/cannot-listen", fmt::format("{}:{}", kHost, port),
                  "a port that cannot be bound", "a free port, or 0 for any");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // stop() does nothing to a server that does not run yet.
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  }

  std::string address() const { return fmt::format("http://{}:{}/{}/", kHost, port_, token_); }
  void add(const ProgressEvent& event) { state_.add(event); }

 private:
  void route() {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_keep_alive_timeout(1);
    // The library's own choice would let a second program take the same port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.set_default_headers(
        {{"Cache-Control", "no-store"}, {"Referrer-Policy", "no-referrer"}, {"X-Content-Type-Options", "nosniff"}});
    // A name that points here would be another site's.
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const std::string host = request.get_header_value("Host");
      if (host == fmt::format("{}:{}", kHost, port_) || host == fmt::format("localhost:{}", port_))
        return httplib::Server::HandlerResponse::Unhandled;
      response.status = 403;
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.Get("/" + token_ + "/", [this](const httplib::Request&, httplib::Response& response) {
      note_visit();
      response.set_content(pages_.frame, "text/html; charset=utf-8");
    });
    server_.Get("/" + token_ + "/state", [this](const httplib::Request&, httplib::Response& response) {
      note_visit();
      const bool is_last = is_over_;
      response.set_content(state_.json(pages_.plan_version()), "application/json");
      if (is_last && pages_.plan_version() == shown_version()) has_heard_ = true;
    });
    server_.Get("/" + token_ + "/plan", [this](const httplib::Request&, httplib::Response& response) {
      note_visit();
      const std::string version = pages_.plan_version();
      const auto page = pages_.plan();
      if (!page) {
        response.status = 404;
        response.set_content(to_string(page.error()), "text/plain; charset=utf-8");
        return;
      }
      response.set_content(*page, "text/html; charset=utf-8");
      const std::lock_guard lock(mutex_);
      shown_ = version;
    });
  }

  void note_visit() {
    const std::lock_guard lock(mutex_);
    visit_ = Clock::now();
  }
  bool is_watched() const {
    const std::lock_guard lock(mutex_);
    return visit_ && Clock::now() - *visit_ < kLooking;
  }
  std::string shown_version() const {
    const std::lock_guard lock(mutex_);
    return shown_;
  }

  LivePages pages_;
  std::string token_;
  LiveState state_;
  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::optional<Clock::time_point> visit_;  ///< the last request
  std::string shown_;                       ///< version of the plan that a browser has
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> has_heard_ = false;  ///< a browser knows the end and has the last plan
};

LiveServer::LiveServer(std::unique_ptr<Front> front) : front_(std::move(front)) {}
LiveServer::~LiveServer() = default;

Result<std::unique_ptr<LiveServer>> LiveServer::open(LivePages pages, int port) {
  COLLAGE_TRY(std::string token, random_token());
  auto front = std::make_unique<Front>(std::move(pages), std::move(token));
  COLLAGE_TRY_VOID(front->listen(port));
  return std::unique_ptr<LiveServer>(new LiveServer(std::move(front)));
}

std::string LiveServer::address() const { return front_->address(); }
void LiveServer::add(const ProgressEvent& event) { front_->add(event); }

}  // namespace collage
