#include "region/narrow_variant.h"

#include <gtest/gtest.h>

#include "ir/graph.h"

namespace collage {
namespace {

constexpr ElementType kNarrow = ElementType::kBfloat16;

/// A region with a float, an integer and a channels_last port.
struct Fixture {
  Graph graph = parse_graph(R"(graph g(%x: f32[1,4,3,3], %i: i64[2]) -> (%y, %j) {
  opset ai.onnx 26
  %y: f32[1,4,3,3] = Relu(%x) "a"
  %j: i64[2] = Neg(%i) "b"
}
)")
                    .value();
  Region region = whole_region(graph, uses_of(graph));
  Variant variant{.name = "direct", .input_formats = {channels_last(), plain()}, .output_formats = {plain(), plain()}};
};

TEST(NarrowVariant, FloatPortsBecomeNarrowAndOthersStay) {
  const Fixture f;
  const auto all = narrow_variant(f.graph, f.region, f.variant, kNarrow);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->name, "direct.bf16");
  EXPECT_EQ(all->input_formats, (std::vector<Format>{{"channels_last.bf16"}, plain()}));
  EXPECT_EQ(all->output_formats, (std::vector<Format>{{"plain.bf16"}, plain()}));
  EXPECT_EQ(narrow_element_in(*all), kNarrow);
}

TEST(NarrowVariant, OneSideAloneHasANameOfItsOwn) {
  const Fixture f;
  const auto in = narrow_variant(f.graph, f.region, f.variant, kNarrow, NarrowPorts::kInputs);
  const auto out = narrow_variant(f.graph, f.region, f.variant, kNarrow, NarrowPorts::kOutputs);
  ASSERT_TRUE(in && out);
  EXPECT_EQ(in->name, "direct.bf16_in");
  EXPECT_EQ(in->output_formats, f.variant.output_formats);
  EXPECT_EQ(out->name, "direct.bf16_out");
  EXPECT_EQ(out->input_formats, f.variant.input_formats);
}

TEST(NarrowVariant, NothingWhereNoPortCanBeNarrow) {
  const Fixture f;
  const auto all = narrow_variant(f.graph, f.region, f.variant, kNarrow);
  EXPECT_FALSE(narrow_variant(f.graph, f.region, *all, kNarrow));
}

TEST(NarrowVariant, FixedPointIsAWordOfTheName) {
  const Variant fixed{.name = "direct+i16.nhwc/tile_c=2", .input_formats = {}, .output_formats = {}};
  EXPECT_EQ(narrow_element_in(fixed), ElementType::kInt16);
  EXPECT_TRUE(is_fixed_point(fixed) && has_16_bits(fixed));
  EXPECT_FALSE(is_fixed_point({.name = "pairs.nhwc.bf16", .input_formats = {}, .output_formats = {}}));
  const Variant with_floats{.name = "direct+i16.nhwc.bf16", .input_formats = {}, .output_formats = {}};
  EXPECT_EQ(narrow_element_in(with_floats), ElementType::kBfloat16);
  EXPECT_TRUE(multiplies_fixed_point(with_floats) && !is_fixed_point(with_floats));
  EXPECT_FALSE(is_fixed_point({.name = "direct.nhwc", .input_formats = {}, .output_formats = {}}));
}

TEST(NarrowVariant, AViewIsNoArithmetic) {
  Fixture f;
  f.variant.name = "view";
  const auto all = narrow_variant(f.graph, f.region, f.variant, kNarrow);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->name, "view");
  EXPECT_TRUE(has_narrow_port(*all));
  EXPECT_FALSE(is_narrow(*all));
  EXPECT_TRUE(is_narrow({.name = "default+bf16", .input_formats = {}, .output_formats = {}}));
  EXPECT_EQ(narrow_element_in({.name = "any.f16/rows=1", .input_formats = {}, .output_formats = {}}),
            ElementType::kFloat16);
  EXPECT_TRUE(is_narrow({.name = "bf16_weights.nchw", .input_formats = {}, .output_formats = {}}));
  EXPECT_FALSE(is_narrow({.name = "perf16", .input_formats = {}, .output_formats = {}}));
  EXPECT_FALSE(is_narrow({.name = "default", .input_formats = {plain()}, .output_formats = {plain()}}));
}

}  // namespace
}  // namespace collage
