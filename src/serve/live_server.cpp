#include "serve/live_server.h"

#include <sys/random.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "serve/http_server.h"
#include "serve/live_state.h"
#include "serve/status.h"

namespace collage {
namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr std::size_t kMostConnections = 16;
constexpr auto kClientTimeout = std::chrono::seconds(2);
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

class LiveServer::Front final : public HttpService {
 public:
  Front(LivePages pages, const std::string& token) : pages_(std::move(pages)), path_("/" + token + "/") {}
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  ~Front() override {
    if (!server_) return;
    state_.end();
    is_over_ = true;
    for (const auto until = Clock::now() + pages_.farewell; is_watched() && !has_heard_ && Clock::now() < until;)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    server_->stop();
    thread_.join();
  }

  Result<void> listen(int port) {
    COLLAGE_TRY(server_, HttpServer::open(*this, {.host = kHost,
                                                  .port = port,
                                                  .most_body_bytes = 0,
                                                  .most_connections = kMostConnections,
                                                  .client_timeout = kClientTimeout,
                                                  .idle_timeout = kClientTimeout}));
    thread_ = std::thread([this] { server_->run(); });
    return {};
  }

  std::string address() const { return fmt::format("http://{}:{}{}", kHost, server_->port(), path_); }
  void add(const ProgressEvent& event) { state_.add(event); }

  ServiceAnswer answer(const ServiceRequest& request) override {
    // A name that points here would be another site's.
    if (request.host != fmt::format("{}:{}", kHost, server_->port()) &&
        request.host != fmt::format("localhost:{}", server_->port()))
      return {.status = 403, .type = "text/plain", .text = "asked by another name", .binary = {}};
    const std::string_view path = request.path.substr(0, request.path.find('?'));
    if (request.method == "GET" && path.starts_with(path_)) {
      note_visit();
      const std::string_view what = path.substr(path_.size());
      if (what.empty()) return {.type = kHtml, .text = pages_.frame, .binary = {}};
      if (what == "state") return state();
      if (what == "plan") return plan();
    }
    return {.status = 404, .type = "text/plain", .text = "nothing here", .binary = {}};
  }
  ServiceAnswer refusal(const Error& error) override { return error_answer(error); }

 private:
  ServiceAnswer state() {
    const bool is_last = is_over_;
    const std::string version = pages_.plan_version();
    ServiceAnswer made{.text = state_.json(version), .binary = {}};
    if (is_last && version == shown_version()) has_heard_ = true;
    return made;
  }

  ServiceAnswer plan() {
    const std::string version = pages_.plan_version();
    auto page = pages_.plan();
    if (!page) return {.status = 404, .type = "text/plain", .text = to_string(page.error()), .binary = {}};
    const std::scoped_lock lock(mutex_);
    shown_ = version;
    return {.type = kHtml, .text = *std::move(page), .binary = {}};
  }

  void note_visit() {
    const std::scoped_lock lock(mutex_);
    visit_ = Clock::now();
  }
  bool is_watched() const {
    const std::scoped_lock lock(mutex_);
    return visit_ && Clock::now() - *visit_ < kLooking;
  }
  std::string shown_version() const {
    const std::scoped_lock lock(mutex_);
    return shown_;
  }

  const LivePages pages_;
  const std::string path_;
  LiveState state_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::optional<Clock::time_point> visit_;  ///< the last request
  std::string shown_;                       ///< version of the plan that a browser has
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> has_heard_ = false;  ///< a browser knows the end and has the last plan
};

LiveServer::LiveServer(std::unique_ptr<Front> front) : front_(std::move(front)) {}
LiveServer::~LiveServer() = default;

Result<std::unique_ptr<LiveServer>> LiveServer::open(LivePages pages, int port) {
  COLLAGE_TRY(const std::string token, random_token());
  auto front = std::make_unique<Front>(std::move(pages), token);
  COLLAGE_TRY_VOID(front->listen(port));
  return std::unique_ptr<LiveServer>(new LiveServer(std::move(front)));
}

std::string LiveServer::address() const { return front_->address(); }
void LiveServer::add(const ProgressEvent& event) { front_->add(event); }

}  // namespace collage
