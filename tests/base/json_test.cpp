// Text that is JSON, and text that only looks like it.
#include "base/json.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonText, IsReadDownToTheDeepestLevel) {
  EXPECT_FALSE(json_of(nested(kDeepestJson)).is_discarded());
  EXPECT_TRUE(parse_json(nested(kDeepestJson), "here"));
}

// Copying and writing such a value would need more stack than there is.
TEST(JsonText, NestedDeeperIsRefused) {
  for (const std::size_t depth : {kDeepestJson + 1, std::size_t{1'000'000}}) {
    EXPECT_TRUE(json_of(nested(depth)).is_discarded());
    EXPECT_EQ(parse_json("{\"key\":" + nested(depth) + "}", "here").error().code, "measure/malformed-json");
    EXPECT_THROW((void)parsed_json(nested(depth)), std::runtime_error);
  }
}

TEST(JsonText, BracketsInsideOfTextAreNoLevels) {
  const std::string brackets(10'000, '[');
  EXPECT_EQ(json_of("[\"" + brackets + "\"]")[0], brackets);
  EXPECT_EQ(json_of("[\"\\\"" + brackets + "\\\\\"]")[0], "\"" + brackets + "\\");
  std::string many = "[0";
  for (int i = 0; i < 1000; ++i) many += ",[[]]";
  EXPECT_EQ(json_of(many + "]").size(), 1001U);
}

TEST(JsonText, ThatIsNoneIsRefused) {
  for (const char* text : {"", "[", "]", "[}", "\"", "\"\\", "nul", "{\"a\":}"}) {
    EXPECT_TRUE(json_of(text).is_discarded()) << text;
    EXPECT_FALSE(parse_json(text, "here")) << text;
  }
}

TEST(JsonIntegers, AreThoseThatFit) {
  EXPECT_EQ(Json(255).get<std::uint8_t>(), 255);
  EXPECT_EQ(Json(-128).get<std::int8_t>(), -128);
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).get<std::uint64_t>(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(Json(3.0).get<int>(), 3);
  EXPECT_EQ((Json{1, 2}.get<std::vector<std::size_t>>()), (std::vector<std::size_t>{1, 2}));
  EXPECT_TRUE(Json(true).get<bool>());
}

TEST(JsonIntegers, ThatDoNotFitAreErrors) {
  const auto refuses = [](const auto& read) { return !read_json("test", [&] { return read(); }).has_value(); };
  EXPECT_TRUE(refuses([] { return Json(256).get<std::uint8_t>(); }));
  EXPECT_TRUE(refuses([] { return Json(-1).get<std::size_t>(); }));
  EXPECT_TRUE(refuses([] { return Json(std::int64_t{1} << 40).get<int>(); }));
  EXPECT_TRUE(refuses([] { return Json(std::numeric_limits<std::uint64_t>::max()).get<std::int64_t>(); }));
  for (const double number : {1e300, -1e300, 9223372036854775808.0, std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(refuses([&] { return Json(number).get<std::int64_t>(); })) << number;
  EXPECT_TRUE(refuses([] { return Json(-5.4).get<unsigned>(); }));
  EXPECT_TRUE(refuses([] { return Json{1, -2}.get<std::vector<std::size_t>>(); }));
  EXPECT_TRUE(refuses([] { return Json("1").get<int>(); }));
}

}  // namespace
}  // namespace collage
