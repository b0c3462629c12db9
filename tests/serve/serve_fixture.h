// A server of a made-up model in this process, and a client that sends any bytes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/json_numbers.h"
#include "serve/http_server.h"
#include "serve/service.h"
#include "tests/support/scratch_folder.h"

namespace collage::test {

/// An answer as it came over the socket.
struct Reply {
  int status = 0;  ///< 0 = none came
  std::string head;
  std::string body;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  /// The code of the error that the body tells, "" if it tells none.
  [[nodiscard]] std::string code() const;
};

/// A connection to a port of this machine.
class RawClient {
 public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// False when the server has closed the connection.
  bool send(std::string_view bytes) const;
  void end_sending() const;
  /// The next answer, by its Content-Length; waits at most ten seconds.
  [[nodiscard]] Reply receive() const;
  /// The next bytes, fewer when the connection ends before.
  [[nodiscard]] std::string receive_bytes(std::size_t count) const;
  /// Waits for the end of the connection; false when it is reset instead, or more bytes come.
  [[nodiscard]] bool ends_in_order() const;

 private:
  int socket_ = -1;
};

/// "POST PATH HTTP/1.1" with headers and body, then Connection: close.
[[nodiscard]] std::string post_text(const std::string& path, const std::string& body, const std::string& headers = "");
/// Sends these bytes, says that no more come, gives the answer.
[[nodiscard]] Reply exchanged(int port, const std::string& bytes);

/// {"inputs": [...]} for x f32[rows,4] of these numbers.
[[nodiscard]] std::string infer_text(const std::vector<float>& numbers, const std::string& more = "");

/// Serves x f32[n,4] -> y = x + (1, 2, 3, 4), n = 1..16, as "rows".
class ServeTest : public ::testing::Test {
 protected:
  static constexpr const char* kInfer = "/v2/models/rows/infer";

  ServeTest();
  ~ServeTest() override;

  /// Writes the plan and serves it.
  void start(ModelOptions options = {}, HttpOptions http = {}, std::chrono::microseconds deadline = {});
  /// Ends it as a signal does.
  void stop();

  [[nodiscard]] int port() const { return server_->port(); }
  [[nodiscard]] Service& service() { return *service_; }
  [[nodiscard]] ModelHost& host() { return *service_->models().front(); }
  [[nodiscard]] Reply get(const std::string& path) const;
  [[nodiscard]] Reply post(const std::string& path, const std::string& body, const std::string& headers = "") const;
  /// A good request in chunks, on a connection that may stay open.
  [[nodiscard]] static std::string chunked_text();
  /// A good request gets a good answer.
  void expect_alive() const;

  /// Runs begin only while the gate is open.
  void close_gate() const;
  void open_gate() const;
  void write_file(const std::string& name) const;
  /// Waits until a run is held by the gate.
  void await_held() const;
  /// Waits until so many requests wait in the queue.
  void await_queue(std::size_t length);
  [[nodiscard]] std::string plan_path() const { return folder_.file("rows.collage"); }
  /// Writes the plan of cases at these points, as tune would: a new file takes the place of the old one.
  void write_plan(const std::vector<std::int64_t>& points, bool has_generic) const;
  /// Writes the generic plan with inputs of another type: a server can load it, and refuse requests, but not run it.
  void write_plan_of(ElementType inputs) const;

  test::ScratchFolder folder_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

}  // namespace collage::test
