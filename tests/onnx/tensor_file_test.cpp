#include "onnx/files/tensor_file.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

class TensorFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("tensor_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return (folder_ / "tensor").string(); }
  [[nodiscard]] std::string write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  /// A version 1 .npy with this header and data.
  [[nodiscard]] std::string npy(const std::string& header, const std::string& data) const {
    std::string bytes = "\x93NUMPY";
    bytes += '\1';
    bytes += '\0';
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    return write(bytes + header + data);
  }

  std::filesystem::path folder_;
};

TEST_F(TensorFile, NpyRoundTripsEveryTypeOfNumpy) {
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat64, ElementType::kFloat16, ElementType::kInt8, ElementType::kInt16,
        ElementType::kInt32, ElementType::kInt64, ElementType::kUint8, ElementType::kUint16, ElementType::kUint32,
        ElementType::kUint64, ElementType::kBool, ElementType::kComplex64, ElementType::kComplex128}) {
    for (const Extents& extents : {Extents{}, Extents{3}, Extents{2, 3, 1}, Extents{0, 4}}) {
      const Tensor tensor{.type = type,
                          .extents = extents,
                          .data = Buffer::copy_of(std::vector<std::byte>(byte_count(type, extents), std::byte{1}))};
      ASSERT_TRUE(write_npy(path(), tensor));
      EXPECT_EQ(std::filesystem::file_size(path()) - tensor.data.size(),
                (std::filesystem::file_size(path()) - tensor.data.size()) / 64 * 64);
      const auto back = read_npy(path());
      ASSERT_TRUE(back) << to_string(back.error());
      EXPECT_EQ(*back, tensor) << name_of(type);
    }
  }
}

TEST_F(TensorFile, NpyRoundTripsStrings) {
  const Tensor tensor{
      .type = ElementType::kString, .extents = {2, 2}, .strings = {"", "abc", "\xC3\xA9t\xC3\xA9", "\xF0\x9F\x99\x82"}};
  ASSERT_TRUE(write_npy(path(), tensor));
  const auto back = read_npy(path());
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, tensor);
}

TEST_F(TensorFile, NpyInFortranOrderIsTransposed) {
  const auto tensor = read_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", "\1\4\2\5\3\6"));
  ASSERT_TRUE(tensor) << to_string(tensor.error());
  EXPECT_EQ(integers_of(*tensor), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST_F(TensorFile, NpyOfBfloat16IsWidened) {
  const Tensor tensor = make_tensor<std::uint16_t>(ElementType::kBfloat16, {2}, {0x3FC0, 0xC000});
  ASSERT_TRUE(write_npy(path(), tensor));
  const auto back = read_npy(path());
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, make_tensor<float>(ElementType::kFloat32, {2}, {1.5F, -2.0F}));
}

TEST_F(TensorFile, NpyThatIsBrokenIsRefused) {
  EXPECT_EQ(code_of(read_npy(path())), "tensor/not-found");
  EXPECT_EQ(code_of(read_npy(write("no numpy at all"))), "tensor/malformed");
  EXPECT_EQ(code_of(read_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "1234567"))),
            "tensor/malformed");
  EXPECT_EQ(code_of(read_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", ""))),
            "tensor/malformed");
  EXPECT_EQ(code_of(read_npy(npy("{'descr': '<f4', 'shape': (9999999999, 9999999999), }", ""))), "tensor/malformed");
  EXPECT_EQ(code_of(read_npy(npy("{'descr': '<U9999999999', 'shape': (2,), }", ""))), "tensor/malformed");
  EXPECT_EQ(code_of(read_npy(npy("{'descr': '>f4', 'shape': (1,), }", "1234"))), "tensor/unsupported-type");
  EXPECT_EQ(code_of(read_npy(npy("{'descr': [('a', '<f4')], 'shape': (1,), }", "1234"))), "tensor/unsupported-type");
  EXPECT_EQ(code_of(read_npy(npy("{", ""))), "tensor/unsupported-type");
}

TEST_F(TensorFile, NpyCannotHoldEightBitFloats) {
  const Tensor tensor{
      .type = ElementType::kFloat8E5M2, .extents = {1}, .data = Buffer::copy_of(std::vector<std::byte>(1))};
  EXPECT_EQ(code_of(write_npy(path(), tensor)), "tensor/unsupported-type");
  EXPECT_EQ(
      code_of(write_npy((folder_ / "no" / "where").string(), make_tensor<float>(ElementType::kFloat32, {1}, {1}))),
      "tensor/cannot-write");
}

TEST_F(TensorFile, PbReadsTypedAndRawData) {
  ::onnx::TensorProto message;
  message.set_data_type(::onnx::TensorProto::FLOAT16);
  message.add_dims(2);
  message.add_int32_data(0x3C00);
  message.add_int32_data(0xC000);
  const auto typed = read_tensor_pb(write(message.SerializeAsString()));
  ASSERT_TRUE(typed) << to_string(typed.error());
  EXPECT_EQ(floats_of(*typed), (std::vector<double>{1, -2}));

  message.Clear();
  message.set_data_type(::onnx::TensorProto::BOOL);
  message.add_dims(3);
  message.set_raw_data(std::string("\0\7\1", 3));
  const auto raw = read_tensor_pb(path().empty() ? "" : write(message.SerializeAsString()));
  ASSERT_TRUE(raw) << to_string(raw.error());
  EXPECT_EQ(integers_of(*raw), (std::vector<std::int64_t>{0, 1, 1}));
}

TEST_F(TensorFile, PbThatIsBrokenIsRefused) {
  EXPECT_EQ(code_of(read_tensor_pb(path())), "tensor/not-found");
  EXPECT_EQ(code_of(read_tensor_pb(write("garbage"))), "tensor/malformed");
  ::onnx::TensorProto message;
  message.set_data_type(::onnx::TensorProto::FLOAT);
  message.add_dims(2);
  message.add_float_data(1);
  EXPECT_EQ(code_of(read_tensor_pb(write(message.SerializeAsString()))), "tensor/malformed");
  message.set_data_type(99);
  EXPECT_EQ(code_of(read_tensor_pb(write(message.SerializeAsString()))), "tensor/unsupported-type");
}

}  // namespace
}  // namespace collage::testing
