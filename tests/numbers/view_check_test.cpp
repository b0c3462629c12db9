#include "numbers/view_check.h"

#include <numeric>

#include "tests/measure/measure_fixture.h"

namespace collage {
namespace {

Tensor counting(const Extents& extents, float first) {
  std::vector<float> values(static_cast<std::size_t>(element_count(extents)));
  std::iota(values.begin(), values.end(), first);
  return make_tensor(ElementType::kFloat32, extents, values);
}

/// What the check says of the only node of a graph, as a view in the plain format.
std::string verdict(const std::string& text, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << to_string(graph.error());
  const Region region = test::region_of(*graph, {0});
  const Variant variant = test::plain_variant(region, "view");
  Registry registry(test::module_folders());
  FormatConverter converter(registry);
  const auto refusal = judge_view(
      {.graph = *graph, .region = region, .variant = variant, .inputs = inputs, .outputs = outputs}, converter, 1);
  return refusal ? refusal->detail : "right";
}

constexpr const char* kWrong = "its output's bytes are not those of its input";

TEST(ViewCheck, ComparesEveryPartOfAConcatenation) {
  const std::string text =
      "graph g(%a: f32[1,16], %b: f32[2,16]) -> (%c) {\n  opset ai.onnx 26\n"
      "  %c: f32[3,16] = Concat(%a, %b) {axis=0} \"c\"\n}\n";
  const Tensor a = counting({1, 16}, 0);
  const Tensor b = counting({2, 16}, 16);
  EXPECT_EQ(verdict(text, {a, b}, {counting({3, 16}, 0)}), "right");
  EXPECT_EQ(verdict(text, {a, counting({2, 16}, 17)}, {counting({3, 16}, 0)}), kWrong);
  EXPECT_EQ(verdict(text, {counting({1, 16}, 1), b}, {counting({3, 16}, 0)}), kWrong);
}

TEST(ViewCheck, ComparesThePartsOfASplitThatAreRead) {
  const std::string text =
      "graph g(%x: f32[3,16]) -> (%b) {\n  opset ai.onnx 26\n  constant %s = i64[2]{1,2}\n"
      "  %a: f32[1,16], %b: f32[2,16] = Split(%x, %s) {axis=0} \"s\"\n}\n";
  EXPECT_EQ(verdict(text, {counting({3, 16}, 0)}, {counting({2, 16}, 16)}), "right");
  EXPECT_EQ(verdict(text, {counting({3, 16}, 0)}, {counting({2, 16}, 0)}), kWrong);
}

TEST(ViewCheck, WantsAllBytesOfWhatIsNoPart) {
  const std::string reshape =
      "graph g(%x: f32[3,16]) -> (%y) {\n  opset ai.onnx 26\n  constant %s = i64[1]{48}\n"
      "  %y: f32[48] = Reshape(%x, %s) \"r\"\n}\n";
  EXPECT_EQ(verdict(reshape, {counting({3, 16}, 0)}, {counting({48}, 0)}), "right");
  EXPECT_EQ(verdict(reshape, {counting({3, 16}, 0)}, {counting({48}, 1)}), kWrong);
  const std::string columns =
      "graph g(%x: f32[2,16]) -> (%y) {\n  opset ai.onnx 26\n  constant %s = i64[1]{0}\n"
      "  constant %e = i64[1]{8}\n  constant %a = i64[1]{1}\n"
      "  %y: f32[2,8] = Slice(%x, %s, %e, %a) \"r\"\n}\n";
  EXPECT_EQ(verdict(columns, {counting({2, 16}, 0)}, {counting({2, 8}, 0)}), kWrong) << "no run of bytes";
}

}  // namespace
}  // namespace collage
