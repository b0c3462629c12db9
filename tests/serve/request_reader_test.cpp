#include "serve/request_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace collage {
namespace {

std::string code_of(const std::string& text) {
  const auto read = read_infer_request(text);
  return read ? "" : read.error().code;
}

/// The data of one input as a tensor.
Result<std::string> data_of(const std::string& data, ElementType type, const Extents& extents) {
  COLLAGE_TRY(const InferRequest request, read_infer_request(R"({"inputs":[{"data":)" + data + "}]}"));
  return request.inputs.at(0).data->bytes(type, extents, "input x");
}

template <class T>
std::vector<T> as(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string data_code(const std::string& data, ElementType type, const Extents& extents) {
  const auto bytes = data_of(data, type, extents);
  return bytes ? "" : bytes.error().code;
}

TEST(RequestReader, ReadsAllKeysInAnyOrder) {
  const auto request = read_infer_request(R"({"parameters":{"timeout":500,"binary_data_output":true,"priority":1},
    "outputs":[{"parameters":{"binary_data":false},"name":"y"},{"name":"z"}],"id":"a\u00e4",
    "inputs":[{"data":[1,2],"shape":[2],"datatype":"INT8","name":"x"},
              {"name":"b","parameters":{"binary_data_size":8},"shape":[1,2],"datatype":"FP32"}],"extra":{"a":[{}]}})");
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_EQ(request->id, "a\u00e4");
  EXPECT_EQ(request->timeout_us, 500U);
  EXPECT_TRUE(request->binary_outputs);
  ASSERT_EQ(request->outputs->size(), 2U);
  EXPECT_EQ(request->outputs->at(0).name, "y");
  EXPECT_EQ(request->outputs->at(0).is_binary, false);
  EXPECT_EQ(request->outputs->at(1).is_binary, std::nullopt);
  ASSERT_EQ(request->inputs.size(), 2U);
  EXPECT_EQ(request->inputs[0].datatype, "INT8");
  EXPECT_TRUE(request->inputs[0].data);
  EXPECT_EQ(request->inputs[1].shape, (Extents{1, 2}));
  EXPECT_EQ(request->inputs[1].binary_bytes, 8U);
}

TEST(RequestReader, NamesThePlaceOfAWrongValue) {
  const auto read = read_infer_request(R"({"inputs":[{"name":"x"},{"shape":[1,-2]}]})");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "serve/bad-request");
  EXPECT_EQ(read.error().where, "inputs[1].shape");
}

TEST(RequestReader, RefusesWhatItDoesNotDo) {
  EXPECT_EQ(code_of(R"({"inputs":[],"parameters":{"sequence_id":3}})"), "serve/unsupported");
  EXPECT_EQ(code_of(R"({"inputs":[],"parameters":{"sequence_id":0,"sequence_start":false}})"), "");
  EXPECT_EQ(code_of(R"({"inputs":[{"parameters":{"shared_memory_region":"a"}}]})"), "serve/unsupported");
  EXPECT_EQ(code_of(R"({"inputs":[],"outputs":[{"name":"y","parameters":{"classification":2}}]})"),
            "serve/unsupported");
}

TEST(RequestReader, RefusesListsAndObjectsInPlaceOfAParameter) {
  for (const char* parameters : {R"({"timeout":[1]})", R"({"timeout":{}})", R"({"binary_data_output":[true]})"})
    EXPECT_EQ(code_of(fmt::format(R"({{"inputs":[],"parameters":{}}})", parameters)), "serve/bad-request")
        << parameters;
  EXPECT_EQ(code_of(R"({"inputs":[{"parameters":{"binary_data_size":[4]}}]})"), "serve/bad-request");
  EXPECT_EQ(code_of(R"({"inputs":[],"outputs":[{"name":"y","parameters":{"binary_data":{}}}]})"), "serve/bad-request");
  EXPECT_EQ(code_of(R"({"inputs":[],"parameters":{"sequence_id":{}}})"), "serve/unsupported");
  EXPECT_EQ(code_of(R"({"inputs":[{"parameters":{"shared_memory_region":["a"]}}]})"), "serve/unsupported");
  EXPECT_EQ(code_of(R"({"inputs":[],"parameters":{"mine":{"timeout":[1]}}})"), "");
}

TEST(JsonDataOfARequest, BecomesElementsOfEveryType) {
  EXPECT_EQ(as<std::uint8_t>(data_of("[255]", ElementType::kUint8, {1}).value()), (std::vector<std::uint8_t>{255}));
  EXPECT_EQ(as<std::uint16_t>(data_of("[65535]", ElementType::kUint16, {1}).value()),
            (std::vector<std::uint16_t>{65535}));
  EXPECT_EQ(as<std::uint32_t>(data_of("[4294967295]", ElementType::kUint32, {1}).value()),
            (std::vector<std::uint32_t>{~0U}));
  EXPECT_EQ(as<std::int16_t>(data_of("[-32768]", ElementType::kInt16, {1}).value()),
            (std::vector<std::int16_t>{-32768}));
  EXPECT_EQ(as<std::int32_t>(data_of("[-2147483648]", ElementType::kInt32, {1}).value()),
            (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min()}));
  EXPECT_EQ(as<float>(data_of("[1,-2.5,3e2]", ElementType::kFloat32, {3}).value()), (std::vector<float>{1, -2.5, 300}));
  EXPECT_EQ(as<double>(data_of("[-1,0.5]", ElementType::kFloat64, {2}).value()), (std::vector<double>{-1, 0.5}));
  EXPECT_EQ(as<std::int8_t>(data_of("[-128,127]", ElementType::kInt8, {2}).value()),
            (std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(as<std::uint64_t>(data_of("[18446744073709551615,0]", ElementType::kUint64, {2}).value()),
            (std::vector<std::uint64_t>{~0ULL, 0}));
  EXPECT_EQ(as<std::int64_t>(data_of("[-9223372036854775808]", ElementType::kInt64, {1}).value()),
            (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(data_of("[true,0,1]", ElementType::kBool, {3}).error().code, "serve/wrong-data");
  EXPECT_EQ(as<char>(data_of("[true,false]", ElementType::kBool, {2}).value()), (std::vector<char>{1, 0}));
  EXPECT_EQ(as<char>(data_of("[0,1]", ElementType::kBool, {2}).value()), (std::vector<char>{0, 1}));
}

TEST(JsonDataOfARequest, MayBeFlatOrNestedAsItsShape) {
  EXPECT_EQ(as<float>(data_of("[[1,2],[3,4],[5,6]]", ElementType::kFloat32, {3, 2}).value()),
            (std::vector<float>{1, 2, 3, 4, 5, 6}));
  for (const char* ragged : {"[[1,2,3],[4,5,6]]", "[[1,2],[3],[4,5,6]]", "[1,[2,3],4,5,6]", "[[1,2,3,4,5,6]]",
                             "[[[1],[2]],[[3],[4]],[[5],[6]]]", "[[1,2],3,4,5,6]"})
    EXPECT_EQ(data_code(ragged, ElementType::kFloat32, {3, 2}), "serve/wrong-data") << ragged;
  EXPECT_EQ(data_code("[]", ElementType::kFloat32, {0, 4}), "");
}

TEST(JsonDataOfARequest, ReadsTheLargestFloatAsItIsWritten) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(as<float>(data_of(fmt::format("[{0},-{0}]", largest), ElementType::kFloat32, {2}).value()),
            (std::vector<float>{largest, -largest}));
}

TEST(JsonDataOfARequest, ReadsFloatsAmongWhichAreLargeWholeNumbersAndSomeBelowZero) {
  EXPECT_EQ(as<float>(data_of("[-1,10000000000000000000,2]", ElementType::kFloat32, {3}).value()),
            (std::vector<float>{-1, 1e19F, 2}));
  EXPECT_EQ(as<double>(data_of("[10000000000000000000,3,-1]", ElementType::kFloat64, {3}).value()),
            (std::vector<double>{1e19, 3, -1}));
}

TEST(JsonDataOfARequest, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(data_code("[128]", ElementType::kInt8, {1}), "serve/out-of-range");
  EXPECT_EQ(data_code("[-1]", ElementType::kUint8, {1}), "serve/out-of-range");
  EXPECT_EQ(data_code("[9223372036854775808]", ElementType::kInt64, {1}), "serve/out-of-range");
  EXPECT_EQ(data_code("[1e39]", ElementType::kFloat32, {1}), "serve/out-of-range");
  EXPECT_EQ(data_code("[1.5]", ElementType::kInt32, {1}), "serve/wrong-data");
  EXPECT_EQ(data_code("[2]", ElementType::kBool, {1}), "serve/wrong-data");
  EXPECT_EQ(data_code("[true]", ElementType::kFloat32, {1}), "serve/wrong-data");
  EXPECT_EQ(data_code("[1]", ElementType::kFloat16, {1}), "serve/needs-binary");
  EXPECT_EQ(data_code("[-1,18446744073709551615]", ElementType::kUint64, {2}), "serve/wrong-data");
}

}  // namespace
}  // namespace collage
