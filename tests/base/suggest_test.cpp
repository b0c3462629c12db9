#include "base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace collage {
namespace {

const std::vector<std::string> kKnown = {"onednn", "onnxruntime", "openvino", "native", "stats", "list"};

TEST(Suggest, FindsTheWordWithTheFewestEdits) {
  EXPECT_EQ(nearest_word("onedn", kKnown), "onednn");
  EXPECT_EQ(nearest_word("natvie", kKnown), "native");
  EXPECT_EQ(nearest_word("stat", kKnown), "stats");
  EXPECT_EQ(nearest_word("OpenVino", kKnown), "openvino");
}

TEST(Suggest, TakesTheBeginningOfAWord) { EXPECT_EQ(nearest_word("onnx", kKnown), "onnxruntime"); }

TEST(Suggest, FindsNothingWhereNoWordIsNear) {
  EXPECT_EQ(nearest_word("tensorrt", kKnown), std::nullopt);
  EXPECT_EQ(nearest_word("", kKnown), std::nullopt);
  EXPECT_EQ(nearest_word("x", std::vector<std::string>{"y"}), std::nullopt);
  EXPECT_EQ(nearest_word("stats", {}), std::nullopt);
}

TEST(Suggest, SaysItAsAQuestion) {
  EXPECT_EQ(did_you_mean("lits", kKnown), "; did you mean list?");
  EXPECT_EQ(did_you_mean("zzzzzz", kKnown), "");
}

}  // namespace
}  // namespace collage
