#include "tests/serve/serve_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "onnx/relocate.h"
#include "plan/file/cases_file.h"
#include "tests/support/paths.h"
#include "tests/support/shape_cases.h"

namespace collage::test {

std::string Reply::code() const {
  const nlohmann::json answer = json();
  if (!answer.is_object() || !answer.contains("error") || !answer["error"].is_string()) return "";
  const std::string text = answer["error"];
  if (!text.starts_with("error[")) return "";
  return text.substr(6, text.find(']') - 6);
}

RawClient::RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

RawClient::~RawClient() { ::close(socket_); }

bool RawClient::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;  // a fuzzer's alarm
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void RawClient::end_sending() const { ::shutdown(socket_, SHUT_WR); }

Reply RawClient::receive() const {
  std::string all;
  std::size_t wanted = std::string::npos;
  char buffer[4096];
  while (all.size() < wanted) {
    const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    all.append(buffer, static_cast<std::size_t>(got));
    const std::size_t end = all.find("\r\n\r\n");
    const std::size_t length = all.find("Content-Length: ");
    if (wanted == std::string::npos && end != std::string::npos && length != std::string::npos)
      wanted = end + 4 + std::stoul(all.substr(length + 16));
  }
  Reply reply;
  const std::size_t end = all.find("\r\n\r\n");
  if (end == std::string::npos || all.size() < 12) return reply;
  reply.status = std::stoi(all.substr(9, 3));
  reply.head = all.substr(0, end);
  // What is behind it answers the next request, of which broken bytes may have several.
  reply.body = all.substr(end + 4, wanted == std::string::npos ? wanted : wanted - end - 4);
  return reply;
}

std::string RawClient::receive_bytes(std::size_t count) const {
  std::string bytes(count, '\0');
  const ssize_t got = ::recv(socket_, bytes.data(), count, MSG_WAITALL);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

bool RawClient::ends_in_order() const {
  char byte;
  return ::recv(socket_, &byte, 1, 0) == 0;
}

std::string post_text(const std::string& path, const std::string& body, const std::string& headers) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n{}", path,
                     body.size(), headers, body);
}

Reply exchanged(int port, const std::string& bytes) {
  const RawClient client(port);
  (void)client.send(bytes);
  client.end_sending();
  return client.receive();
}

std::string infer_text(const std::vector<float>& numbers, const std::string& more) {
  return fmt::format(R"({{"inputs":[{{"name":"x","datatype":"FP32","shape":[{},4],"data":[{}]}}]{}}})",
                     numbers.size() / 4, fmt::join(numbers, ","), more);
}

ServeTest::ServeTest() { ::setenv("COLLAGE_TEST_GATE", folder_.path().c_str(), 1); }

ServeTest::~ServeTest() {
  open_gate();
  stop();
}

namespace {

void save_plan(PlanCases cases, const std::string& path) {
  ASSERT_TRUE(share_weights(cases, relocate_external_data));
  const std::string beside = path + ".new";
  const auto saved = save_cases(cases, beside);
  ASSERT_TRUE(saved) << to_string(saved.error());
  std::filesystem::rename(beside, path);
}

}  // namespace

void ServeTest::write_plan(const std::vector<std::int64_t>& points, bool has_generic) const {
  save_plan(rows_cases(points, has_generic), plan_path());
}

void ServeTest::write_plan_of(ElementType inputs) const {
  PlanCases cases = rows_cases({}, true);
  for (CaseInput& input : cases.inputs) input.type.element = inputs;
  Plan& plan = cases.generic->plan;
  for (const PlanIndex input : plan.inputs) plan.values[input].type.element = inputs;
  save_plan(std::move(cases), plan_path());
}

void ServeTest::start(ModelOptions options, HttpOptions http, std::chrono::microseconds deadline) {
  if (!std::filesystem::exists(plan_path())) write_plan({2, 8}, true);
  if (options.sessions == 0) options.sessions = 2;
  options.backend_places = {build_path("/tests/modules/gate")};
  std::vector<std::unique_ptr<ModelHost>> hosts;
  hosts.push_back(std::make_unique<ModelHost>("rows", plan_path(), options));
  const auto loaded = hosts.back()->load();
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  service_ = std::make_unique<Service>(std::move(hosts), "0", deadline);
  auto server = HttpServer::open(*service_, http);
  ASSERT_TRUE(server) << to_string(server.error());
  server_ = *std::move(server);
  thread_ = std::thread([this] { server_->run(); });
}

void ServeTest::stop() {
  if (!thread_.joinable()) return;
  service_->begin_to_end();
  server_->stop();
  thread_.join();
  service_->end();
}

Reply ServeTest::get(const std::string& path) const {
  return exchanged(port(), "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

Reply ServeTest::post(const std::string& path, const std::string& body, const std::string& headers) const {
  return exchanged(port(), post_text(path, body, headers));
}

std::string ServeTest::chunked_text() {
  const std::string json = infer_text({1, 2, 3, 4});
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n", kInfer,
      10, json.substr(0, 10), json.size() - 10, json.substr(10));
}

void ServeTest::expect_alive() const {
  const Reply reply = post(kInfer, infer_text({10, 20, 30, 40}));
  EXPECT_EQ(reply.status, 200) << reply.body;
  const auto answer = reply.json();
  ASSERT_TRUE(answer.is_object()) << reply.body;
  EXPECT_EQ(answer["outputs"][0]["data"], nlohmann::json({11, 22, 33, 44})) << reply.body;
}

void ServeTest::write_file(const std::string& name) const { std::ofstream(folder_.file(name)) << "x"; }
void ServeTest::close_gate() const { write_file("closed"); }
void ServeTest::open_gate() const { std::filesystem::remove(folder_.file("closed")); }

void ServeTest::await_held() const {
  for (int tries = 0; tries < 10'000 && !std::filesystem::exists(folder_.file("held")); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(std::filesystem::exists(folder_.file("held")));
}

void ServeTest::await_queue(std::size_t length) {
  for (int tries = 0; tries < 10'000 && host().current()->queue().size() != length; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(host().current()->queue().size(), length);
}

}  // namespace collage::test
