// Values of every kind in files.
#include "onnx/files/value_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace collage::testing {
namespace {

class ValueFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("value_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static ValueType type_of(std::string_view text) { return parse_value_type(text).value(); }

  std::filesystem::path folder_;
};

std::vector<Tensor> held_kinds() {
  const auto type = [](std::string_view text) { return parse_value_type(text).value(); };
  const Tensor words{.type = ElementType::kString, .extents = {2}, .strings = {"a", "\xC3\xA9"}};
  const Tensor floats = make_tensor<float>(ElementType::kFloat32, {2}, {1, 2.5F});
  const Tensor map = make_container(type("map(str,f32[])"), {words, floats});
  const Tensor keyed =
      make_container(type("map(i64,str[])"), {make_tensor<std::int64_t>(ElementType::kInt64, {2}, {-4, 3}), words});
  const Tensor sequence =
      make_container(type("seq(f32[?])"), {floats, make_tensor<float>(ElementType::kFloat32, {1}, {7})});
  return {words,
          sequence,
          make_container(type("seq(str[2])"), {words, words}),
          make_container(type("seq(f32[2])"), {}),
          make_container(type("seq(map(str,f32[]))"), {map}),
          make_container(type("opt(f32[2])"), {floats}),
          make_container(type("opt(f32[2])"), {}),
          make_container(type("opt(seq(f32[?]))"), {sequence}),
          map,
          keyed};
}

TEST_F(ValueFile, ReadsBackWhatItWrote) {
  for (const Tensor& value : held_kinds())
    for (const char* name : {"v.pb", "v.json"}) {
      const auto written = write_value(path(name), value);
      ASSERT_TRUE(written) << to_string(written.error());
      const auto back = read_value(path(name), value.value_type());
      ASSERT_TRUE(back) << to_string(back.error());
      EXPECT_EQ(*back, value) << name << " " << to_string(value.value_type());
    }
}

TEST_F(ValueFile, TensorsOfNumbersHaveEveryForm) {
  const Tensor value = make_tensor<float>(ElementType::kFloat32, {2, 1}, {1, 2.5F});
  for (const char* name : {"v.pb", "v.json", "v.npy"}) {
    ASSERT_TRUE(write_value(path(name), value));
    const auto back = read_value(path(name), value.value_type());
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(*back, value) << name;
  }
  EXPECT_EQ(best_ending(value), "npy");
}

TEST_F(ValueFile, BestEndingIsWhatCanHoldIt) {
  EXPECT_EQ(best_ending({.type = ElementType::kString, .extents = {1}, .strings = {"a"}}), "json");
  EXPECT_EQ(best_ending({.type = ElementType::kString, .extents = {1}, .strings = {"\xff"}}), "pb");
  EXPECT_EQ(
      best_ending(make_container(type_of("seq(c64[1])"), {make_tensor<float>(ElementType::kComplex64, {1}, {1, 2})})),
      "pb");
  EXPECT_EQ(write_value(path("v.npy"), make_container(type_of("seq(f32[1])"), {})).error().code,
            "tensor/unsupported-type");
}

TEST_F(ValueFile, BareJsonNeedsNoType) {
  const auto words = read_value(write("v.json", R"([["a","b","c"]])"), {});
  ASSERT_TRUE(words) << to_string(words.error());
  EXPECT_EQ(to_string(words->value_type()), "str[1,3]");
  EXPECT_EQ(to_string(read_value(write("v.json", "[1,2]"), {})->value_type()), "f64[2]");
}

TEST_F(ValueFile, DamageIsAnError) {
  const auto code = [&](const std::string& name, const std::string& bytes, std::string_view type) {
    const auto value = read_value(write(name, bytes), type_of(type));
    return value ? "good" : value.error().code;
  };
  EXPECT_EQ(code("v.json", "[\"a\"", "str[1]"), "tensor/malformed");
  EXPECT_EQ(code("v.json", R"({"schema":"collage.value/1"})", "str[1]"), "tensor/malformed");
  EXPECT_EQ(code("v.json", "[\"\xff\"]", "str[1]"), "tensor/malformed");
  EXPECT_EQ(code("v.json", std::string(100'000, '['), "str[1]"), "tensor/malformed");
  EXPECT_EQ(code("v.json", std::string(100'000, '[') + std::string(100'000, ']'), "str[1]"), "tensor/malformed");
  EXPECT_EQ(code("v.pb", "\xff\xff\xff", "seq(f32[1])"), "tensor/malformed");
  EXPECT_EQ(code("v.pb", "\xff\xff\xff", "opt(f32[1])"), "tensor/malformed");
  EXPECT_EQ(code("v.pb", "\xff\xff\xff", "map(str,f32[])"), "tensor/malformed");
  EXPECT_EQ(read_value(path("none.json"), type_of("str[1]")).error().code, "tensor/not-found");
  EXPECT_EQ(read_value(path("none.pb"), type_of("seq(f32[1])")).error().code, "tensor/not-found");
}

TEST_F(ValueFile, EveryTruncationOfAMessageIsReadOrRefused) {
  const Tensor value = held_kinds()[1];
  ASSERT_TRUE(write_value(path("v.pb"), value));
  std::ifstream file(path("v.pb"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t end = 0; end < bytes.size(); ++end) {
    const auto read = read_value(write("cut.pb", bytes.substr(0, end)), value.value_type());
    if (read) {
      EXPECT_LE(read->items.size(), value.items.size());
    } else {
      EXPECT_TRUE(read.error().code.starts_with("tensor/")) << to_string(read.error());
    }
  }
}

}  // namespace
}  // namespace collage::testing
