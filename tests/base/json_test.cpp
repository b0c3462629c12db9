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

}  // namespace
}  // namespace collage
