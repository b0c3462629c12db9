// Strings as the protocol carries them.
#include "serve/text_tensor.h"

#include <gtest/gtest.h>

#include "serve/json_data.h"

namespace collage::test {
namespace {

std::string packed(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) append_text(bytes, text);
  return bytes;
}

Result<std::vector<std::string>> read_back(const std::string& bytes, const Extents& extents) {
  return texts_in(std::as_bytes(std::span(bytes)), extents, "x");
}

TEST(TextTensor, ReadsBack) {
  const std::vector<std::string> texts = {"", "a", std::string("zero\0inside", 11), "Gr\xC3\xBC\xC3\x9F"};
  EXPECT_EQ(*read_back(packed(texts), {2, 2}), texts);
  EXPECT_EQ(packed({"ab"}), std::string("\2\0\0\0ab", 6));
  EXPECT_TRUE(read_back("", {0})->empty());
}

TEST(TextTensor, RefusesEveryTruncationAndWhatIsTooMuch) {
  const std::string bytes = packed({"ab", "c"});
  for (std::size_t end = 0; end < bytes.size(); ++end)
    EXPECT_EQ(read_back(bytes.substr(0, end), {2}).error().code, "serve/wrong-size") << end;
  EXPECT_EQ(read_back(bytes + "x", {2}).error().code, "serve/wrong-size");
  EXPECT_EQ(read_back(bytes, {3}).error().code, "serve/wrong-size");
  EXPECT_EQ(read_back(bytes, {1}).error().code, "serve/wrong-size");
  EXPECT_EQ(read_back(bytes, {std::int64_t{1} << 40}).error().code, "serve/wrong-size");
  EXPECT_EQ(read_back(packed({"\xff"}), {1}).error().code, "input/not-utf8");
}

TEST(TextTensor, ComesFromJsonAsText) {
  JsonData data;
  data.open_list();
  data.add(std::string("a"));
  data.add(std::string(""));
  data.close_list();
  EXPECT_EQ(*data.bytes(ElementType::kString, {2}, "x"), packed({"a", ""}));
  EXPECT_EQ(data.bytes(ElementType::kFloat32, {2}, "x").error().code, "serve/wrong-data");
  EXPECT_EQ(data.bytes(ElementType::kString, {3}, "x").error().code, "serve/wrong-data");
  JsonData numbers;
  numbers.open_list();
  numbers.add(std::int64_t{1});
  numbers.close_list();
  EXPECT_EQ(numbers.bytes(ElementType::kString, {1}, "x").error().code, "serve/wrong-data");
}

}  // namespace
}  // namespace collage::test
