// Requests to `collage serve`, as bytes on a connection: HTTP, its headers, JSON, tensors behind it.
#include <fmt/format.h>

#include "onnx/relocate.h"
#include "plan/file/cases_file.h"
#include "tests/readers/reader.h"
#include "tests/serve/serve_fixture.h"
#include "tests/support/mutate/mutate_bytes.h"
#include "tests/support/mutate/mutate_json.h"
#include "tests/support/mutate/mutate_text.h"
#include "tests/support/paths.h"
#include "tests/support/shape_cases.h"

namespace collage::test {
namespace {

constexpr const char* kInfer = "/v2/models/rows/infer";

/// Serves "rows" of tests/serve; its folder is removed before there is work, since the plan stays mapped.
class RowsServer {
 public:
  RowsServer() {
    const ScratchFolder folder;
    ::setenv("COLLAGE_TEST_GATE", "/nonexistent", 1);
    PlanCases cases = rows_cases({2, 8}, true);
    COLLAGE_CHECK(share_weights(cases, relocate_external_data) && save_cases(cases, folder.file("rows.collage")));
    ModelOptions options;
    options.sessions = 1;
    options.backend_places = {build_path("/tests/modules/gate")};
    std::vector<std::unique_ptr<ModelHost>> hosts;
    hosts.push_back(std::make_unique<ModelHost>("rows", folder.file("rows.collage"), options));
    const auto loaded = hosts.back()->load();
    COLLAGE_CHECK(loaded.has_value(), loaded ? "" : to_string(loaded.error()));
    service_ = std::make_unique<Service>(std::move(hosts), "0", std::chrono::microseconds(0));
    server_ = HttpServer::open(*service_, {}).value();
    thread_ = std::thread([this] { server_->run(); });
  }
  ~RowsServer() {
    service_->begin_to_end();
    server_->stop();
    thread_.join();
    service_->end();
  }
  RowsServer(const RowsServer&) = delete;
  RowsServer& operator=(const RowsServer&) = delete;

  [[nodiscard]] int port() const { return server_->port(); }

 private:
  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

std::string binary_request() {
  const std::string json =
      R"({"id":"7","inputs":[{"name":"x","datatype":"FP32","shape":[2,4],"parameters":{"binary_data_size":32}}],)"
      R"("outputs":[{"name":"y","parameters":{"binary_data":true}}],"parameters":{"timeout":1000000}})";
  return post_text(kInfer, json + std::string(32, '\0'),
                   "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n");
}

std::string chunked_request() {
  const std::string json = infer_text({1, 2, 3, 4});
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: "
      "chunked\r\n\r\n{:x}\r\n{}\r\n{:x}\r\n{}\r\n0"
      "\r\n\r\n",
      kInfer, 10, json.substr(0, 10), json.size() - 10, json.substr(10));
}

std::vector<std::string> requests() {
  return {post_text(kInfer, infer_text({1, 2, 3, 4, 5, 6, 7, 8})),
          post_text(kInfer,
                    infer_text({1, 2, 3, 4}, R"(,"outputs":[{"name":"y"}],"parameters":{"binary_data_output":true})")),
          binary_request(),
          "GET /v2/models/rows/config HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
          "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
          post_text("/v2/repository/index", "{}"),
          chunked_request()};
}

void set_header(std::string& head, const std::string& name, std::size_t value) {
  const std::size_t at = head.find(name + ": ");
  if (at == std::string::npos) return;
  const std::size_t begin = at + name.size() + 2;
  head.replace(begin, head.find('\r', begin) - begin, std::to_string(value));
}

/// The JSON, with lengths in the head that fit; the head; or bytes.
std::string mutated_request(const std::string& sample, const std::string& other, Dice& dice) {
  const std::size_t end = sample.find("\r\n\r\n");
  const std::size_t begin = sample.find('{', end);
  if (dice.one_in(5) || end == std::string::npos) return mutated_bytes(sample, other, dice);
  std::string head = sample.substr(0, end + 4);
  const std::string body = sample.substr(end + 4);
  if (dice.one_in(4) || begin != end + 4)
    return mutated_text(head, other.substr(0, other.find("\r\n\r\n")), dice) + "\r\n\r\n" + body;
  const std::size_t close = body.rfind('}') + 1;
  const std::string json = mutated_json_text(body.substr(0, close), dice);
  if (!dice.one_in(8)) set_header(head, "Inference-Header-Content-Length", json.size());
  if (!dice.one_in(8)) set_header(head, "\r\nContent-Length", json.size() + body.size() - close);
  return head + json + body.substr(close);
}

/// No answer is one: the connection was closed on bytes that are no request.
Answer send_request(const std::string& bytes, const std::filesystem::path&) {
  static RowsServer server;
  const Reply reply = exchanged(server.port(), bytes);
  Answer answer{.is_accepted = reply.status == 200, .exit = ExitCode::kBadInput, .text = std::to_string(reply.status)};
  if (answer.is_accepted) answer.exit = ExitCode::kGood;
  // A refusal is the client's fault, or that of a limit; never the server's.
  if (reply.status == 500 || reply.code() == "serve/exception")
    answer = {.is_accepted = false, .exit = ExitCode::kBug, .text = reply.head + reply.body};
  if (const Reply good = exchanged(server.port(), post_text(kInfer, infer_text({10, 20, 30, 40}))); good.status != 200)
    answer = {.is_accepted = false, .exit = ExitCode::kBug, .text = "a good request afterwards: " + good.body};
  return answer;
}

}  // namespace

void add_serve_readers(std::vector<Reader>& all) {
  all.push_back({.name = "request", .samples = requests, .mutate = mutated_request, .read = send_request, .names = {}});
}

}  // namespace collage::test
