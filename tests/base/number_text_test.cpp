#include "base/number_text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace collage {
namespace {

TEST(NumberText, IsTheWholeTextOrNothing) {
  EXPECT_EQ(number_in<std::int64_t>("-12"), -12);
  EXPECT_EQ(number_in<double>("0.5"), 0.5);
  for (const char* text : {"", "12 ", " 12", "12x", "+1", "0x1"}) EXPECT_FALSE(number_in<std::int64_t>(text)) << text;
  EXPECT_FALSE(number_in<std::size_t>("-1"));
  EXPECT_FALSE(number_in<std::uint32_t>("4294967296")) << "does not fit";
}

TEST(NumberText, IsTakenOffTheFront) {
  std::string_view text = "12,-3";
  EXPECT_EQ(take_number<std::int64_t>(text), 12);
  EXPECT_EQ(text, ",-3");
  EXPECT_FALSE(take_number<std::int64_t>(text));
  EXPECT_EQ(text, ",-3");
}

}  // namespace
}  // namespace collage
