// Requests that no client should send: each gets an error with a code, and the server goes on.
#include <fmt/format.h>

#include "tests/serve/serve_fixture.h"
#include "tests/support/dice.h"

namespace collage::test {
namespace {

struct BadRequest {
  std::string name;
  std::string bytes;
  int status;
  std::string code;
};

constexpr const char* kPath = "/v2/models/rows/infer";

/// A whole request with this JSON text.
BadRequest of_text(std::string name, const std::string& json, std::string code, int status = 400) {
  return {std::move(name), post_text(kPath, json), status, std::move(code)};
}

/// The one input with these keys in place of the right ones.
BadRequest of_input(std::string name, const std::string& input, std::string code) {
  return of_text(std::move(name), R"({"inputs":[{)" + input + "}]}", std::move(code));
}

/// JSON text and tensors, with what the header says of the first.
BadRequest of_binary(std::string name, const std::string& json, const std::string& tensors, const std::string& length,
                     std::string code) {
  return {std::move(name), post_text(kPath, json + tensors, "Inference-Header-Content-Length: " + length + "\r\n"), 400,
          std::move(code)};
}

std::vector<BadRequest> bad_texts() {
  const std::string deep(5000, '[');
  std::string sums = infer_text({1, 2, 3, 4});
  return {
      of_text("empty body", "", "serve/malformed-json"),
      of_text("no JSON", "hello", "serve/malformed-json"),
      of_text("a text longer than a short string has room for", std::string(20, 'x'), "serve/malformed-json"),
      of_text("half", sums.substr(0, sums.size() / 2), "serve/malformed-json"),
      of_text("more behind", sums + "x", "serve/malformed-json"),
      of_text("not UTF-8", "{\"id\":\"\xff\xfe\",\"inputs\":[]}", "serve/malformed-json"),
      of_text("NaN", R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[NaN,1,2,3]}]})",
              "serve/malformed-json"),
      of_text("a number that no double holds",
              R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1e999,1,2,3]}]})",
              "serve/malformed-json"),
      of_text("a list", "[]", "serve/bad-request"),
      of_text("a number", "17", "serve/bad-request"),
      of_text("null", "null", "serve/bad-request"),
      of_text("no inputs", "{}", "serve/bad-request"),
      of_text("inputs that are no list", R"({"inputs":{}})", "serve/bad-request"),
      of_text("inputs of numbers", R"({"inputs":[1]})", "serve/bad-request"),
      of_text("the same key twice", R"({"inputs":[],"inputs":[]})", "serve/bad-request"),
      of_text("an id that is no text", R"({"id":7,"inputs":[]})", "serve/bad-request"),
      of_text("outputs that are no list", R"({"inputs":[],"outputs":1})", "serve/bad-request"),
      of_text("parameters that are no object", R"({"inputs":[],"parameters":[]})", "serve/bad-request"),
      of_text("a timeout below 0", R"({"inputs":[],"parameters":{"timeout":-1}})", "serve/bad-request"),
      of_text("a timeout that is text", R"({"inputs":[],"parameters":{"timeout":"1"}})", "serve/bad-request"),
      of_text("lists 5000 deep", R"({"a":)" + deep, "serve/bad-request"),
      of_text("data 5000 deep", R"({"inputs":[{"data":)" + deep, "serve/bad-request"),
      of_text("a sequence", R"({"inputs":[],"parameters":{"sequence_id":1}})", "serve/unsupported"),
      of_text("no input at all", R"({"inputs":[]})", "input/missing"),
      of_text("an input twice",
              R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,2,3,4]},{"name":"x"}]})",
              "serve/duplicate-input"),
      of_text("an unknown output", infer_text({1, 2, 3, 4}, R"(,"outputs":[{"name":"q"}])"), "output/unknown-name"),
      of_text("an output twice", infer_text({1, 2, 3, 4}, R"(,"outputs":[{"name":"y"},{"name":"y"}])"),
              "serve/duplicate-output"),
      of_text("an output without a name", infer_text({1, 2, 3, 4}, R"(,"outputs":[{}])"), "output/unknown-name"),
  };
}

std::vector<BadRequest> bad_inputs() {
  return {
      of_input("an unknown name", R"("name":"z","datatype":"FP32","shape":[1,4],"data":[1,2,3,4])",
               "input/unknown-name"),
      of_input("no name", R"("datatype":"FP32","shape":[1,4],"data":[1,2,3,4])", "input/unknown-name"),
      of_input("another type", R"("name":"x","datatype":"INT32","shape":[1,4],"data":[1,2,3,4])",
               "serve/wrong-datatype"),
      of_input("an unknown type", R"("name":"x","datatype":"FP33","shape":[1,4],"data":[1,2,3,4])",
               "serve/wrong-datatype"),
      of_input("strings", R"("name":"x","datatype":"BYTES","shape":[1],"data":["a"])", "serve/wrong-datatype"),
      of_input("text as numbers", R"("name":"x","datatype":"FP32","shape":[1,4],"data":["1","2","3","4"])",
               "serve/wrong-data"),
      of_input("text beside numbers", R"("name":"x","datatype":"FP32","shape":[1,4],"data":["1",2,3,4])",
               "serve/wrong-data"),
      of_input("no type", R"("name":"x","shape":[1,4],"data":[1,2,3,4])", "serve/wrong-datatype"),
      of_input("no shape", R"("name":"x","datatype":"FP32","data":[1,2,3,4])", "input/wrong-shape"),
      of_input("a shape that is text", R"("name":"x","datatype":"FP32","shape":"1x4","data":[1,2,3,4])",
               "serve/bad-request"),
      of_input("an extent below 0", R"("name":"x","datatype":"FP32","shape":[-1,4],"data":[])", "serve/bad-request"),
      of_input("an extent with a fraction", R"("name":"x","datatype":"FP32","shape":[1.5,4],"data":[])",
               "serve/bad-request"),
      of_input("extents whose product overflows",
               R"("name":"x","datatype":"FP32","shape":[9223372036854775807,9223372036854775807],"data":[1])",
               "serve/too-large"),
      of_input("a huge extent beside 0", R"("name":"x","datatype":"FP32","shape":[0,9223372036854775807],"data":[])",
               "serve/too-large"),
      of_input("another rank", R"("name":"x","datatype":"FP32","shape":[4],"data":[1,2,3,4])", "input/wrong-shape"),
      of_input("another fixed extent", R"("name":"x","datatype":"FP32","shape":[1,5],"data":[1,2,3,4,5])",
               "input/wrong-shape"),
      of_input("no rows", R"("name":"x","datatype":"FP32","shape":[0,4],"data":[])", "shape/outside"),
      of_input(
          "more rows than the plan has",
          R"("name":"x","datatype":"FP32","shape":[17,4],"data":[)" + std::string("0") +
              [] {
                std::string zeros;
                for (int i = 1; i < 68; ++i) zeros += ",0";
                return zeros;
              }() +
              "]",
          "shape/outside"),
      of_input("too few elements", R"("name":"x","datatype":"FP32","shape":[1,4],"data":[1,2,3])", "serve/wrong-data"),
      of_input("too many elements", R"("name":"x","datatype":"FP32","shape":[1,4],"data":[1,2,3,4,5])",
               "serve/wrong-data"),
      of_input("null as an element", R"("name":"x","datatype":"FP32","shape":[1,4],"data":[1,null,3,4])",
               "serve/bad-request"),
      of_input("an object as an element", R"("name":"x","datatype":"FP32","shape":[1,4],"data":[1,{},3,4])",
               "serve/bad-request"),
      of_input("truth values as floats", R"("name":"x","datatype":"FP32","shape":[1,4],"data":[true,false,true,true])",
               "serve/wrong-data"),
      of_input("a number beyond f32", R"("name":"x","datatype":"FP32","shape":[1,4],"data":[1e300,0,0,0])",
               "serve/out-of-range"),
      of_input("no data", R"("name":"x","datatype":"FP32","shape":[1,4])", "serve/no-data"),
      of_input("shared memory",
               R"("name":"x","datatype":"FP32","shape":[1,4],"parameters":{"shared_memory_region":"r"})",
               "serve/unsupported"),
      of_input("a bad operand", R"("name":"x","datatype":"FP32","shape":[1,4],"data":[666,0,0,0])",
               "runtime/bad-operand"),
  };
}

std::vector<BadRequest> bad_binaries() {
  const auto json = [](const std::string& parameters) {
    return R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4])" + parameters + "}]}";
  };
  const std::string sixteen = json(R"(,"parameters":{"binary_data_size":16})");
  const std::string size = std::to_string(sixteen.size());
  const std::string tensor(16, '\0');
  const std::string huge = json(R"(,"parameters":{"binary_data_size":18446744073709551615})");
  const std::string wrong = json(R"(,"parameters":{"binary_data_size":12})");
  const std::string text = json(R"(,"parameters":{"binary_data_size":"16"})");
  const std::string both = json(R"(,"data":[1,2,3,4],"parameters":{"binary_data_size":16})");
  return {
      of_binary("a tensor that is too short", sixteen, tensor.substr(1), size, "serve/wrong-size"),
      of_binary("bytes behind the tensor", sixteen, tensor + "x", size, "serve/wrong-size"),
      of_binary("no tensor", sixteen, "", size, "serve/wrong-size"),
      of_binary("a size that overflows", huge, tensor, std::to_string(huge.size()), "serve/wrong-size"),
      of_binary("another size than the shape", wrong, tensor.substr(4), std::to_string(wrong.size()),
                "serve/wrong-size"),
      of_binary("a size that is text", text, tensor, std::to_string(text.size()), "serve/bad-request"),
      of_binary("data and a tensor", both, tensor, std::to_string(both.size()), "serve/no-data"),
      of_binary("a length that is too short", sixteen, tensor, "10", "serve/malformed-json"),
      of_binary("a length beyond the body", sixteen, tensor, "100000", "serve/wrong-size"),
      of_binary("a length below 0", sixteen, tensor, "-1", "serve/wrong-size"),
      of_binary("a length that is no number", sixteen, tensor, "ten", "serve/wrong-size"),
      of_binary("a length of 0", sixteen, tensor, "0", "serve/malformed-json"),
      of_binary("a length that overflows", sixteen, tensor, "99999999999999999999999", "serve/wrong-size"),
      {"a tensor without the header", post_text(kPath, sixteen), 400, "serve/wrong-size"},
  };
}

std::string many_headers(std::size_t count) {
  std::string headers;
  for (std::size_t i = 0; i < count; ++i) headers += fmt::format("X-{}: a\r\n", i);
  return headers;
}

std::vector<BadRequest> bad_http() {
  const std::string head = fmt::format("POST {} HTTP/1.1\r\nHost: x\r\n", kPath);
  const std::string good = infer_text({1, 2, 3, 4});
  return {
      {"no HTTP", "hello\r\n\r\n", 400, "serve/bad-http"},
      {"another version", "GET /v2 HTTP/9.9\r\n\r\n", 400, "serve/bad-http"},
      {"an unknown method", "FETCH /v2 HTTP/1.1\r\n\r\n", 400, "serve/bad-http"},
      {"a method of no use", "DELETE /v2/models/rows HTTP/1.1\r\nConnection: close\r\n\r\n", 405, "serve/wrong-method"},
      {"an unknown address", "GET /v3 HTTP/1.1\r\nConnection: close\r\n\r\n", 404, "serve/not-found"},
      {"an unknown action", post_text("/v2/models/rows/explain", good), 404, "serve/not-found"},
      {"an unknown model", post_text("/v2/models/rwos/infer", good), 404, "serve/unknown-model"},
      {"a model that is a path", post_text("/v2/models/..%2f..%2fetc%2fpasswd/infer", good), 404,
       "serve/unknown-model"},
      {"an unknown version", post_text("/v2/models/rows/versions/7/infer", good), 404, "serve/unknown-version"},
      {"a line end in the path", post_text("/v2/models/a%0Ab/infer", good), 404, "serve/not-found"},
      {"a zero byte in the path", post_text("/v2/models/a%00b/infer", good), 404, "serve/not-found"},
      {"a long path", post_text("/v2/" + std::string(5000, 'a'), good), 404, "serve/not-found"},
      {"a path beyond all limits", post_text("/v2/" + std::string(20000, 'a'), good), 414, "serve/bad-http"},
      {"many headers", post_text(kPath, good, many_headers(200)), 400, "serve/bad-http"},
      {"a long header", post_text(kPath, good, "X: " + std::string(40000, 'a') + "\r\n"), 400, "serve/bad-http"},
      {"ranges", post_text(kPath, good, "Range: bytes=" + std::string(4000, ',') + "\r\n"), 416, "serve/bad-http"},
      {"two lengths", post_text(kPath, good, "Content-Length: 3\r\n"), 411, "serve/no-length"},
      {"a length and chunks", post_text(kPath, good, "Transfer-Encoding: chunked\r\n"), 411, "serve/no-length"},
      {"a length below 0", head + "Content-Length: -5\r\n\r\nhello", 411, "serve/no-length"},
      {"a length that is text", head + "Content-Length: ten\r\n\r\nhello", 411, "serve/no-length"},
      {"a body beyond the limit", head + "Content-Length: 99999999999\r\n\r\nhello", 413, "serve/body-too-large"},
      {"fewer bytes than announced", head + "Content-Length: 500\r\n\r\nhello", 400, "serve/bad-http"},
      {"chunks beyond the limit", head + "Transfer-Encoding: chunked\r\n\r\n20000\r\n" + std::string(0x20000, ' '), 413,
       "serve/body-too-large"},
      {"a size of a chunk that does not end", head + "Transfer-Encoding: chunked\r\n\r\n" + std::string(100'000, '0'),
       400, "serve/bad-http"},
      {"a chunk without a size", head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400, "serve/bad-http"},
      {"no gzip", post_text(kPath, good, "Content-Encoding: gzip\r\n"), 400, "serve/bad-http"},
      {"a form", post_text(kPath, good, "Content-Type: multipart/form-data; boundary=a\r\n"), 415,
       "serve/wrong-encoding"},
      {"a load of an unknown model", post_text("/v2/repository/models/none/load", "{}"), 404, "serve/unknown-model"},
  };
}

class MalformedTest : public ServeTest {
 protected:
  /// Small limits, so that what exceeds them is quickly sent.
  void start_small() {
    start({.sessions = 1, .backend_places = {}},
          {.most_body_bytes = 64 * 1024, .client_timeout = std::chrono::seconds(5)});
  }
  void expect_refused(const std::vector<BadRequest>& requests) {
    for (const BadRequest& bad : requests) {
      const Reply reply = exchanged(port(), bad.bytes);
      EXPECT_EQ(reply.status, bad.status) << bad.name << ": " << reply.body;
      EXPECT_EQ(reply.code(), bad.code) << bad.name << ": " << reply.body;
    }
    expect_alive();
  }
};

TEST_F(MalformedTest, TextsGetAnErrorWithACode) {
  start_small();
  expect_refused(bad_texts());
}

TEST_F(MalformedTest, InputsGetAnErrorWithACode) {
  start_small();
  expect_refused(bad_inputs());
}

TEST_F(MalformedTest, BinaryTensorsGetAnErrorWithACode) {
  start_small();
  expect_refused(bad_binaries());
}

TEST_F(MalformedTest, HttpGetsAnErrorWithACode) {
  start_small();
  expect_refused(bad_http());
}

TEST_F(MalformedTest, ASizeOfAChunkThatDoesNotEndIsRefused) {
  // More time than the client waits for its answer: only the length of the line ends the request.
  start({.sessions = 1, .backend_places = {}}, {.client_timeout = std::chrono::minutes(10)});
  const RawClient client(port());
  ASSERT_TRUE(client.send(fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", kPath)));
  ASSERT_TRUE(client.send(std::string(40'000, '0')));
  const Reply reply = client.receive();
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code(), "serve/bad-http");
  expect_alive();
}

TEST_F(MalformedTest, TruthValuesOtherThanZeroAndOneAreRefused) {
  write_plan_of(ElementType::kBool);
  start({.sessions = 1, .joins = false, .backend_places = {}});
  const std::string json =
      R"({"inputs":[{"name":"x","datatype":"BOOL","shape":[1,4],"parameters":{"binary_data_size":4}}]})";
  const Reply reply = post(kPath, json + std::string("\0\1\2\1", 4),
                           fmt::format("Inference-Header-Content-Length: {}\r\n", json.size()));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code(), "serve/out-of-range") << reply.body;
}

/// A good request with a tensor, cut or changed by chance: answered well, refused with a code, or closed.
TEST_F(MalformedTest, CutAndChangedRequestsNeverEndTheServer) {
  start_small();
  const std::string json =
      R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"parameters":{"binary_data_size":16}}]})";
  const std::string good = post_text(kPath, json + std::string(16, '\1'),
                                     fmt::format("Inference-Header-Content-Length: {}\r\n", json.size()));
  ASSERT_EQ(exchanged(port(), good).status, 200);
  constexpr std::uint64_t kSeed = 20;
  for (std::uint64_t i = 0; i < 400; ++i) {
    Dice dice(kSeed * 1000 + i);
    std::string bytes = good;
    if (dice.one_in(2)) bytes.resize(dice.below(bytes.size()));
    for (std::size_t changes = dice.below(4); changes > 0 && !bytes.empty(); --changes)
      bytes[dice.below(bytes.size())] = static_cast<char>(dice.below(256));
    const Reply reply = exchanged(port(), bytes);
    if (reply.status == 200 || reply.status == 0) continue;
    EXPECT_GE(reply.status, 400) << "seed " << kSeed * 1000 + i;
    EXPECT_LT(reply.status, 500) << "seed " << kSeed * 1000 + i << reply.body;
    EXPECT_NE(reply.code(), "") << "seed " << kSeed * 1000 + i << reply.body;
  }
  expect_alive();
}

}  // namespace
}  // namespace collage::test
