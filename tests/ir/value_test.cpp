// Strings, sequences, optionals and maps: what fits a type, as bytes, as JSON.
#include <gtest/gtest.h>

#include "ir/check_value.h"
#include "ir/packed_value.h"
#include "ir/value_json.h"

namespace collage {
namespace {

ValueType type_of(std::string_view text) { return parse_value_type(text).value(); }

Tensor strings_in(Extents extents, std::vector<std::string> texts) {
  return {.type = ElementType::kString, .extents = std::move(extents), .strings = std::move(texts)};
}

Tensor floats_in(Extents extents, const std::vector<float>& values) {
  return make_tensor(ElementType::kFloat32, std::move(extents), values);
}

/// One of each kind, nested.
std::vector<Tensor> all_kinds() {
  const Tensor keys = strings_in({2}, {"a", "b \"quoted\""});
  const Tensor map = make_container(type_of("map(str,f32[])"), {keys, floats_in({2}, {0.5F, -2})});
  const Tensor numbers = make_container(
      type_of("map(i64,i64[])"), {make_tensor<std::int64_t>(ElementType::kInt64, {2}, {-1, std::int64_t{1} << 60}),
                                  make_tensor<std::int64_t>(ElementType::kInt64, {2}, {7, 8})});
  return {strings_in({2, 2}, {"", "abc", "\xC3\xA9t\xC3\xA9", "\xF0\x9F\x99\x82"}),
          strings_in({}, {"one"}),
          floats_in({2, 1}, {1.5F, -0.25F}),
          make_container(type_of("seq(f32[?])"), {floats_in({1}, {1}), floats_in({3}, {1, 2, 3})}),
          make_container(type_of("seq(str[2])"), {strings_in({2}, {"x", "y"})}),
          make_container(type_of("seq(f32[?])"), {}),
          make_container(type_of("opt(f32[1])"), {floats_in({1}, {4})}),
          make_container(type_of("opt(seq(f32[1]))"), {make_container(type_of("seq(f32[1])"), {floats_in({1}, {4})})}),
          make_container(type_of("opt(f32[1])"), {}),
          map,
          numbers,
          make_container(type_of("seq(map(str,f32[]))"), {map, map})};
}

TEST(ValueType, TextOfMapsReadsBack) {
  for (const char* text : {"map(i64,f32[])", "map(str,seq(f32[2]))", "seq(map(str,f32[N]))", "opt(map(i64,str[]))"})
    EXPECT_EQ(to_string(type_of(text)), text);
  for (const char* text : {"map(i64)", "map(,f32[])", "map(what,f32[])", "map(i64,f32[]"})
    EXPECT_FALSE(parse_value_type(text)) << text;
}

TEST(ValueType, HeldAreStringsAndContainersOfKnownTypes) {
  for (const char* text : {"str[2]", "str[*]", "seq(f32[?])", "opt(seq(str[*]))", "map(i64,f32[])"})
    EXPECT_TRUE(type_of(text).is_held()) << text;
  for (const char* text : {"f32[2]", "f32[?]", "f32[*]", "?", "seq(?)", "undef[2]"})
    EXPECT_FALSE(type_of(text).is_held()) << text;
}

TEST(CheckValue, TakesWhatFits) {
  for (const Tensor& value : all_kinds()) {
    const auto checked = check_value("x", value.value_type(), value);
    EXPECT_TRUE(checked) << to_string(checked.error());
  }
  EXPECT_TRUE(check_value("x", type_of("str[?,2]"), strings_in({1, 2}, {"a", "b"})));
}

TEST(CheckValue, SaysWhatIsWrongAndWhere) {
  struct Wrong {
    std::string type;
    Tensor value;
    std::string code;
    std::string where;
  };
  const Tensor two = strings_in({2}, {"a", "b"});
  const std::vector<Wrong> all = {
      {"f32[2]", two, "input/wrong-type", "x"},
      {"str[3]", two, "input/wrong-shape", "x"},
      {"str[2]", strings_in({2}, {"a"}), "input/malformed", "x"},
      {"str[2]", strings_in({2}, {"a", "\xff"}), "input/not-utf8", "x, string 1"},
      {"str[1]", strings_in({1}, {"\xed\xa0\x80"}), "input/not-utf8", "x, string 0"},
      {"seq(str[2])", two, "input/wrong-type", "x"},
      {"seq(str[1])", make_container(type_of("seq(str[1])"), {strings_in({1}, {"a"}), two}), "input/wrong-shape",
       "x, item 1"},
      {"seq(f32[2])", make_container(type_of("seq(f32[2])"), {two}), "input/wrong-type", "x, item 0"},
      {"opt(f32[])", make_container(type_of("opt(f32[])"), {floats_in({}, {1}), floats_in({}, {1})}), "input/malformed",
       "x"},
      {"map(str,f32[])", make_container(type_of("map(str,f32[])"), {two, floats_in({3}, {1, 2, 3})}),
       "input/wrong-shape", "x, values"},
      {"map(i64,f32[])", make_container(type_of("map(i64,f32[])"), {two, floats_in({2}, {1, 2})}), "input/wrong-type",
       "x, keys"},
      {"f32[2]", {.type = ElementType::kFloat32, .extents = {2}}, "input/malformed", "x"}};
  for (const Wrong& wrong : all) {
    const auto checked = check_value("x", type_of(wrong.type), wrong.value);
    ASSERT_FALSE(checked) << wrong.type << " " << wrong.code;
    EXPECT_EQ(checked.error().code, wrong.code) << to_string(checked.error());
    EXPECT_EQ(checked.error().where, wrong.where) << to_string(checked.error());
  }
}

TEST(CheckValue, HugeValuesAreRefused) {
  const ValueLimits limits{.most_bytes = 10, .most_items = 3};
  EXPECT_TRUE(check_value("x", type_of("str[2]"), strings_in({2}, {"12345", "12345"}), limits));
  EXPECT_EQ(check_value("x", type_of("str[2]"), strings_in({2}, {"12345", "123456"}), limits).error().code,
            "input/too-large");
  EXPECT_EQ(check_value("x", type_of("str[4]"), strings_in({4}, {"", "", "", ""}), limits).error().code,
            "input/too-large");
}

TEST(PackedValue, ReadsBackAndRefusesDamage) {
  for (const Tensor& value : all_kinds()) {
    const std::string packed = pack_value(value);
    const auto back = unpack_value(packed);
    ASSERT_TRUE(back) << to_string(value.value_type());
    EXPECT_EQ(*back, value) << to_string(value.value_type());
    for (std::size_t end = 0; end < packed.size(); ++end)
      EXPECT_FALSE(unpack_value(std::string_view(packed).substr(0, end))) << end;
  }
}

TEST(ValueJson, ReadsBack) {
  for (const Tensor& value : all_kinds()) {
    const auto json = value_to_json(value, "x");
    ASSERT_TRUE(json) << to_string(json.error());
    const auto back = value_from_json(*json, value.value_type(), "x");
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(*back, value) << json->dump();
  }
}

TEST(ValueJson, HasEveryNumber) {
  const auto same = [](const Tensor& tensor) {
    const auto json = value_to_json(tensor, "x");
    ASSERT_TRUE(json) << to_string(json.error());
    const auto back = value_from_json(*parse_json(json->dump(), "x"), tensor.value_type(), "x");
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(*back, tensor) << json->dump();
  };
  const float infinite = std::numeric_limits<float>::infinity();
  same(floats_in({4}, {infinite, -infinite, 0.1F, 3.4e38F}));
  same(make_tensor<std::uint64_t>(ElementType::kUint64, {2}, {0, ~std::uint64_t{0}}));
  same(make_tensor<std::int64_t>(ElementType::kInt64, {1}, {std::numeric_limits<std::int64_t>::min()}));
  same(make_tensor<std::int8_t>(ElementType::kInt8, {2}, {-128, 127}));
  same(make_tensor<std::uint8_t>(ElementType::kBool, {2}, {1, 0}));
  same(make_tensor<std::uint16_t>(ElementType::kFloat16, {1}, {0x3E00}));
  same(make_tensor<float>(ElementType::kFloat32, {0}, {}));
}

TEST(ValueJson, SaysWhatIsWrongAndWhere) {
  const std::vector<std::array<std::string, 4>> all = {
      {"str[2,2]", R"([["a","b"],["c"]])", "tensor/malformed", "x, [1]"},
      {"str[2]", R"(["a",1])", "tensor/malformed", "x, [1]"},
      {"str[2]", R"([["a"],["b"]])", "tensor/malformed", "x"},
      {"i8[2]", "[1,128]", "tensor/malformed", "x, [1]"},
      {"i8[1]", "[1.5]", "tensor/malformed", "x, [0]"},
      {"bool[1]", "[1]", "tensor/malformed", "x, [0]"},
      {"f32[1]", R"(["one"])", "tensor/malformed", "x, [0]"},
      {"seq(f32[1])", R"({"a":1})", "tensor/malformed", "x"},
      {"seq(f32[1])", R"([[1],["a"]])", "tensor/malformed", "x, item 1, [0]"},
      {"map(i64,f32[])", R"({"a":1})", "tensor/malformed", "x"},
      {"map(str,f32[])", "[1]", "tensor/malformed", "x"},
      {"c64[1]", "[1]", "tensor/unsupported-type", "x"},
      {"i4[1]", "[1]", "tensor/unsupported-type", "x"}};
  for (const auto& [type, json, code, where] : all) {
    const auto value = value_from_json(parse_json(json, "x").value(), type_of(type), "x");
    ASSERT_FALSE(value) << type << json;
    EXPECT_EQ(value.error().code, code) << to_string(value.error());
    EXPECT_TRUE(value.error().where.starts_with(where)) << to_string(value.error());
  }
  EXPECT_EQ(value_to_json(strings_in({1}, {"\xff"}), "x").error().code, "tensor/not-utf8");
}

}  // namespace
}  // namespace collage
