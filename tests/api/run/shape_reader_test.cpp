#include "api/run/shape_reader.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

PlanCases cases_of(const std::vector<DimensionRange>& domain, const std::vector<std::string>& inputs) {
  PlanCases cases{.domain = {domain}};
  for (const std::string& input : inputs) cases.inputs.push_back({"x", parse_value_type("f32" + input).value()});
  return cases;
}

TEST(ShapeReader, ReadsDimensionsFromInputsThatMustAgree) {
  const PlanCases cases = cases_of({{"batch", 1, 8}, {"seq", 16, 128}}, {"[batch,3]", "[batch,seq]"});
  const ShapeReader reader(cases);
  ShapePoint point;
  ASSERT_TRUE(reader.read(std::vector<Extents>{{2, 3}, {2, 64}}, point));
  EXPECT_EQ(point, (ShapePoint{2, 64}));
  EXPECT_EQ(point_of_inputs(cases, std::vector<Extents>{{2, 3}, {2, 64}}).value(), point);
  for (const std::vector<Extents>& wrong : std::vector<std::vector<Extents>>{
           {{2, 3}, {3, 64}}, {{2, 4}, {2, 64}}, {{2, 3}, {2}}, {{2, 3}}, {{-1, 3}, {-1, 64}}})
    EXPECT_FALSE(reader.read(wrong, point));
  EXPECT_EQ(point_of_inputs(cases, std::vector<Extents>{{2, 3}, {3, 64}}).error().code, "input/wrong-shape");
  EXPECT_EQ(point_of_inputs(cases, std::vector<Extents>{{2, 3}}).error().code, "input/wrong-count");
}

TEST(ShapeReader, TakesAllExtentsWhereThePlanHasNoDomain) {
  const ShapeReader reader(cases_of({}, {"[n,3]", "[]"}));
  ShapePoint point;
  ASSERT_TRUE(reader.read(std::vector<Extents>{{5, 3}, {}}, point));
  EXPECT_EQ(point, (ShapePoint{5, 3}));
  EXPECT_FALSE(reader.read(std::vector<Extents>{{5, 4}, {}}, point));
}

}  // namespace
}  // namespace collage
