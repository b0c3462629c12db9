#include "serve/infer_response.h"
#include "base/json_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace collage {
namespace {

template <class T>
PendingOutput output_of(ElementType type, Extents extents, const std::vector<T>& values) {
  return {.type = type,
          .extents = std::move(extents),
          .bytes = std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}

TensorPort port_of(const std::string& name) { return {.name = name, .type = {}, .bytes = 0}; }

Result<InferResponse> one_output(PendingOutput output, bool is_binary) {
  PendingRequest pending;
  pending.outputs.push_back(std::move(output));
  InferRequest request;
  request.binary_outputs = is_binary;
  return make_response("m", request, {port_of("y")}, pending);
}

TEST(InferResponse, WritesNumbersThatReadBackAsTheyWere) {
  const std::vector<float> values = {0.1F, -1e-42F, std::numeric_limits<float>::max(), 3};
  const auto response = one_output(output_of(ElementType::kFloat32, {2, 2}, values), false);
  ASSERT_TRUE(response);
  const auto json = nlohmann::json::parse(response->json);
  EXPECT_EQ(json["outputs"][0]["shape"], nlohmann::json({2, 2}));
  EXPECT_EQ(json["outputs"][0]["datatype"], "FP32");
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(json["outputs"][0]["data"][i].get<float>(), values[i]) << i;
  const auto small = one_output(output_of<std::int8_t>(ElementType::kInt8, {2}, {-128, 65}), false);
  EXPECT_EQ(nlohmann::json::parse(small->json)["outputs"][0]["data"], nlohmann::json({-128, 65}));
  const auto truth = one_output(output_of<char>(ElementType::kBool, {2}, {0, 1}), false);
  EXPECT_EQ(nlohmann::json::parse(truth->json)["outputs"][0]["data"], nlohmann::json({false, true}));
}

TEST(InferResponse, PutsBinaryTensorsBehindTheText) {
  const std::vector<float> values = {1, std::nanf("")};
  const auto response = one_output(output_of(ElementType::kFloat32, {2}, values), true);
  ASSERT_TRUE(response);
  const auto json = nlohmann::json::parse(response->json);
  EXPECT_EQ(json["outputs"][0]["parameters"]["binary_data_size"], 8);
  EXPECT_FALSE(json["outputs"][0].contains("data"));
  ASSERT_EQ(response->binary.size(), 1U);
  EXPECT_EQ(response->binary[0].size(), 8U);
}

TEST(InferResponse, RefusesWhatJsonCannotSay) {
  for (const float odd : {std::nanf(""), std::numeric_limits<float>::infinity()})
    EXPECT_EQ(one_output(output_of<float>(ElementType::kFloat32, {1}, {odd}), false).error().code, "serve/not-finite");
  EXPECT_EQ(one_output(output_of<short>(ElementType::kFloat16, {1}, {0}), false).error().code, "serve/needs-binary");
}

TEST(InferResponse, KeepsTheOrderOfTheRequestAndItsId) {
  PendingRequest pending;
  pending.outputs.push_back(output_of<float>(ElementType::kFloat32, {1}, {1}));
  pending.outputs.push_back(output_of<float>(ElementType::kFloat32, {1}, {2}));
  InferRequest request;
  request.id = "\"\xff";
  request.outputs = {{.name = "b", .is_binary = {}}, {.name = "a", .is_binary = true}};
  const auto response = make_response("m", request, {port_of("a"), port_of("b")}, pending);
  ASSERT_TRUE(response);
  const auto json = nlohmann::json::parse(response->json);
  EXPECT_EQ(json["outputs"][0]["name"], "b");
  EXPECT_EQ(json["outputs"][0]["data"][0], 2);
  EXPECT_EQ(json["outputs"][1]["name"], "a");
  EXPECT_EQ(json["id"].get<std::string>().front(), '"');
}

}  // namespace
}  // namespace collage
