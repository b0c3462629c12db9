// What a well-behaved client sees.
#include <cstring>

#include <fmt/format.h>

#include "tests/serve/serve_fixture.h"

namespace collage::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class ProtocolTest : public ServeTest {
 protected:
  ProtocolTest() { start(); }
};

TEST_F(ProtocolTest, TellsAboutServerAndModels) {
  EXPECT_EQ(get("/v2/health/live").status, 200);
  EXPECT_EQ(get("/v2/health/ready").status, 200);
  EXPECT_EQ(get("/v2").json()["name"], "collage");
  for (const char* path : {"/v2/models/rows", "/v2/models/rows/versions/1"}) {
    const Json model = get(path).json();
    EXPECT_EQ(model["name"], "rows");
    EXPECT_EQ(model["versions"], Json({"1"}));
    EXPECT_EQ(model["inputs"], Json::parse(R"([{"name":"x","datatype":"FP32","shape":[-1,4]}])"));
    EXPECT_EQ(model["outputs"], Json::parse(R"([{"name":"y","datatype":"FP32","shape":[-1,4]}])"));
  }
  EXPECT_EQ(get("/v2/models/rows/ready").status, 200);
  EXPECT_EQ(get("/v2/models/rows/versions/1/ready").status, 200);
  EXPECT_EQ(get("/v2/models/rows/config").json()["max_batch_size"], 16);
}

TEST_F(ProtocolTest, AnswersJsonWithJson) {
  const Reply reply = post(kInfer, infer_text({1, 2, 3, 4, 5, 6, 7, 8}, R"(,"id":"seven")"));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Json answer = reply.json();
  EXPECT_EQ(answer["id"], "seven");
  EXPECT_EQ(answer["model_name"], "rows");
  EXPECT_EQ(answer["outputs"][0]["shape"], Json({2, 4}));
  EXPECT_EQ(answer["outputs"][0]["data"], Json({2, 4, 6, 8, 6, 8, 10, 12}));
  EXPECT_EQ(post("/v2/models/rows/versions/1/infer", infer_text({1, 2, 3, 4})).status, 200);
}

TEST_F(ProtocolTest, AnswersBinaryTensorsWithBinaryTensors) {
  const std::string json = R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],
    "parameters":{"binary_data_size":16}}],"parameters":{"binary_data_output":true}})";
  const std::vector<float> x = {10, 20, 30, 40};
  const Reply reply = post(kInfer, json + std::string(reinterpret_cast<const char*>(x.data()), 16),
                           fmt::format("Inference-Header-Content-Length: {}\r\n", json.size()));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const std::string header = "Inference-Header-Content-Length: ";
  const std::size_t at = reply.head.find(header);
  ASSERT_NE(at, std::string::npos) << reply.head;
  const std::size_t text = std::stoul(reply.head.substr(at + header.size()));
  ASSERT_EQ(reply.body.size(), text + 16);
  EXPECT_EQ(Json::parse(reply.body.substr(0, text))["outputs"][0]["parameters"]["binary_data_size"], 16);
  std::vector<float> y(4);
  std::memcpy(y.data(), reply.body.data() + text, 16);
  EXPECT_EQ(y, (std::vector<float>{11, 22, 33, 44}));
}

TEST_F(ProtocolTest, AnswersManyRequestsOfOneConnection) {
  const RawClient client(port());
  const std::string json = infer_text({1, 2, 3, 4});
  const std::string request =
      fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{}", kInfer, json.size(), json);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client.send(request));
    EXPECT_EQ(client.receive().status, 200) << i;
  }
}

TEST_F(ProtocolTest, ReadsChunks) { EXPECT_EQ(exchanged(port(), chunked_text()).status, 200); }

TEST_F(ProtocolTest, TellsAClientToGoOnThatAsksBeforeItSendsABody) {
  const RawClient client(port());
  const std::string json = infer_text({1, 2, 3, 4});
  const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client.send(fmt::format(
        "POST {} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n", kInfer, json.size())));
    EXPECT_EQ(client.receive_bytes(go_on.size()), go_on);
    ASSERT_TRUE(client.send(json));
    EXPECT_EQ(client.receive().status, 200) << i;
  }
}

TEST_F(ProtocolTest, SaysWhetherItClosesTheConnection) {
  const std::string head = fmt::format("POST {} HTTP/1.1\r\nHost: x\r\n", kInfer);
  for (const std::string& request :
       {chunked_text(), std::string("GET /v2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"),
        "GET /" + std::string(10'000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", head + "Content-Length: ten\r\n\r\nab",
        head + "Content-Length: 99999999999\r\n\r\nab"}) {
    const RawClient client(port());
    ASSERT_TRUE(client.send(request));
    const Reply reply = client.receive();
    EXPECT_THAT(reply.head, HasSubstr("Connection: close")) << request.substr(0, 200);
    EXPECT_THAT(reply.head, Not(HasSubstr("Keep-Alive"))) << request.substr(0, 200);
    EXPECT_TRUE(client.ends_in_order()) << request.substr(0, 200);
  }
  const RawClient client(port());
  ASSERT_TRUE(client.send("GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n"));
  const Reply reply = client.receive();
  EXPECT_THAT(reply.head, HasSubstr("Keep-Alive"));
  EXPECT_THAT(reply.head, Not(HasSubstr("Connection: close")));
}

TEST_F(ProtocolTest, LeavesOutOutputsThatAreNotAskedFor) {
  const Reply reply = post(kInfer, infer_text({1, 2, 3, 4}, R"(,"outputs":[])"));
  ASSERT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.json()["outputs"].empty());
}

TEST_F(ProtocolTest, ListsLoadsAndUnloads) {
  const auto state = [this] { return post("/v2/repository/index", "").json()[0]["state"]; };
  EXPECT_EQ(state(), "READY");
  EXPECT_EQ(post("/v2/repository/models/rows/unload", "{}").status, 200);
  EXPECT_EQ(state(), "UNAVAILABLE");
  EXPECT_EQ(get("/v2/models/rows/ready").status, 503);
  EXPECT_EQ(get("/v2/health/ready").status, 503);
  EXPECT_EQ(post(kInfer, infer_text({1, 2, 3, 4})).code(), "serve/not-loaded");
  EXPECT_EQ(post("/v2/repository/models/rows/load", "{}").status, 200);
  EXPECT_EQ(state(), "READY");
  expect_alive();
}

TEST_F(ProtocolTest, CountsRequestsAndFailures) {
  expect_alive();
  (void)post(kInfer, "{}");
  (void)post("/v2/models/none/infer", "{}");
  const std::string text = get("/metrics").body;
  EXPECT_THAT(text, HasSubstr("collage_requests_total{model=\"rows\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("collage_failures_total{model=\"rows\",code=\"serve/bad-request\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("collage_failures_total{model=\"\",code=\"serve/unknown-model\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("collage_compute_seconds_count{model=\"rows\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("collage_batch_requests_bucket{model=\"rows\",le=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("collage_queue_length{model=\"rows\"} 0\n"));
}

}  // namespace
}  // namespace collage::test
