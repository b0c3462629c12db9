#include "ir/shape_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collage {
namespace {

using ::testing::HasSubstr;

template <class T>
std::string code_of(const Result<T>& result) {
  return result ? "good" : result.error().code;
}

ShapeBindings bindings(const std::vector<std::string>& arguments) { return parse_shape_bindings(arguments).value(); }

ShapeDomain domain(const std::vector<std::string>& arguments) { return domain_of(bindings(arguments)).value(); }

ValueType floats(const std::string& text) { return parse_value_type("f32" + text).value(); }

TEST(ShapeDomain, IsTheRangesAmongTheBindings) {
  const ShapeDomain seen = domain({"seq=16..128", "x=1x3", "batch=1..8", "k=4"});
  ASSERT_EQ(seen.dimensions.size(), 2U);
  EXPECT_EQ(seen.dimensions[0], (DimensionRange{"batch", 1, 8}));
  EXPECT_EQ(seen.dimensions[1], (DimensionRange{"seq", 16, 128}));
  EXPECT_EQ(to_string(seen), "batch=1..8, seq=16..128");
  EXPECT_TRUE(domain({"x=1x3", "k=4"}).dimensions.empty());
}

TEST(ShapeDomain, TakesARangeOfOnePointAndOfZero) {
  EXPECT_EQ(domain({"n=3..3"}).dimensions[0], (DimensionRange{"n", 3, 3}));
  EXPECT_EQ(domain({"n=0..1"}).dimensions[0], (DimensionRange{"n", 0, 1}));
}

TEST(ShapeDomain, RefusesRangesThatAreEmptyOrNoRange) {
  EXPECT_EQ(code_of(parse_shape_bindings(std::vector<std::string>{"n=8..1"})), "shape/empty-range");
  for (const char* bad : {"n=..", "n=1..", "n=..8", "n=1..8..9", "n=1..8x3", "n=1...8", "n=-1..8", "n=a..b"}) {
    const auto parsed = parse_shape_bindings(std::vector<std::string>{bad});
    EXPECT_EQ(code_of(parsed), "shape/malformed") << bad;
    if (!parsed) {
      EXPECT_EQ(parsed.error().exit, ExitCode::kUsage);
    }
  }
}

TEST(ShapeDomain, BindsAPointInPlaceOfTheRanges) {
  const ShapeBindings given = bindings({"batch=1..8", "seq=16..128", "x=1x3"});
  const ShapeDomain all = domain_of(given).value();
  const ShapeBindings bound = bindings_at(given, all, {4, 64});
  EXPECT_EQ(bound.entries, (std::map<std::string, std::string>{{"batch", "4"}, {"seq", "64"}, {"x", "1x3"}}));
  EXPECT_EQ(without_ranges(given).entries, (std::map<std::string, std::string>{{"x", "1x3"}}));
}

TEST(ShapeDomain, SaysWhichDimensionsAPointLacksOrHasTooMany) {
  const ShapeDomain all = domain({"batch=1..8", "seq=16..128"});
  EXPECT_EQ(point_of(all, {{"seq", 64}, {"batch", 2}}).value(), (ShapePoint{2, 64}));
  EXPECT_EQ(code_of(point_of(all, {{"seq", 64}})), "shape/unbound");
  EXPECT_EQ(code_of(point_of(all, {{"seq", 64}, {"batch", 1}, {"k", 1}})), "shape/unknown-dimension");
  const auto outside = point_of(all, {{"seq", 129}, {"batch", 2}});
  ASSERT_EQ(code_of(outside), "shape/outside");
  EXPECT_THAT(outside.error().saw, HasSubstr("seq=129"));
  EXPECT_THAT(outside.error().allowed, HasSubstr("seq=16..128"));
}

TEST(ShapeDomain, ReadsExtentsFromInputsThatMustAgree) {
  const ShapeDomain all = domain({"batch=1..8", "seq=16..128"});
  std::map<std::string, std::int64_t> extents;
  EXPECT_TRUE(read_extents(all, "x", floats("[batch,seq,7]"), {2, 64, 7}, extents));
  EXPECT_EQ(extents, (std::map<std::string, std::int64_t>{{"batch", 2}, {"seq", 64}}));
  EXPECT_TRUE(read_extents(all, "y", floats("[batch]"), {2}, extents));
  EXPECT_EQ(code_of(read_extents(all, "y", floats("[batch]"), {3}, extents)), "input/wrong-shape");
  EXPECT_EQ(code_of(read_extents(all, "x", floats("[batch,seq,7]"), {2, 64, 8}, extents)), "input/wrong-shape");
  EXPECT_EQ(code_of(read_extents(all, "x", floats("[batch,seq,7]"), {2, 64}, extents)), "input/wrong-shape");
}

TEST(ShapeDomain, NeedsInputsThatTellEveryDimension) {
  const ShapeDomain all = domain({"batch=1..8", "seq=16..128"});
  EXPECT_TRUE(check_inputs_tell(all, std::vector<ValueType>{floats("[batch,3]"), floats("[seq]")}));
  EXPECT_EQ(code_of(check_inputs_tell(all, std::vector<ValueType>{floats("[batch,3]")})), "shape/no-input");
}

TEST(ShapeDomain, GivesTypesTheExtentsOfAPoint) {
  const ShapeDomain all = domain({"batch=1..8", "seq=16..128"});
  EXPECT_EQ(to_string(type_at(all, {2, 64}, floats("[batch,seq,7]"))), "f32[2,64,7]");
  EXPECT_EQ(to_string(type_at(all, {2, 64}, floats("[batch,k]"))), "f32[2,k]");
}

}  // namespace
}  // namespace collage
