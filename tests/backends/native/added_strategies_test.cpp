// Implementations from libraries outside of the tree: offered, listed and tuned like the built-in ones, or refused.
#include <cstdlib>

#include "backend/extensions/strategy_extension.h"
#include "backend/extensions/tuning_extension.h"
#include "native_fixture.h"
#include "tests/support/paths.h"

namespace collage::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSum =
    "graph(%a: f32[3,5,70], %b: f32[70]) -> (%y) { %s: f32[3,5,70] = Add(%a, %b) %y: f32[3,5,70] = Relu(%s) }";
const std::string kExample = COLLAGE_STRATEGIES "/example/libcollage_native_strategies_unrolled.so";
const std::string kOdd = COLLAGE_STRATEGIES "/odd/libcollage_native_strategies_odd.so";

Registry registry() { return Registry({test::build_path("/lib/collage")}); }

TEST(AddedStrategies, AreOfferedListedAndRight) {
  const std::string instance = "native:strategies=" + kExample;
  EXPECT_THAT(strategies(compiling(instance)).value(),
              Contains(AllOf(Field(&StrategyLine::implementation, "unrolled"), Field(&StrategyLine::source, kExample),
                             Field(&StrategyLine::condition, "outputs == 1"))));
  if (!has_reference()) GTEST_SKIP() << "no reference here";
  const std::vector<std::string> names = expect_right(kSum, {}, instance);
  EXPECT_THAT(names, Contains("unrolled.plain/unroll=4"));
  EXPECT_THAT(names, Contains(StartsWith("flat.plain")));
}

TEST(AddedStrategies, CanBeTuned) {
  const std::string instance = "native:strategies=" + kExample;
  const Graph graph = graph_of(kSum);
  Variant variant = variant_of(compiling(instance), graph, "unrolled.");
  const auto space = tuning_space(compiling(instance), graph, region_of(graph), variant, {});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->choices[0].values, (std::vector<std::int64_t>{1, 2, 4, 8, 16}));
  if (!has_reference()) GTEST_SKIP() << "no reference here";
  variant.name = name_of(*space, {16});
  EXPECT_EQ(problem_of(graph, expected_of(graph), variant, {}, instance), "");
}

TEST(AddedStrategies, AreForTheInstanceThatNamesThemAndPartOfItsBuild) {
  Registry here = registry();
  Backend* with = here.get("native:strategies=" + kExample).value();
  Backend* without = here.get("native").value();
  EXPECT_NE(with->info().build, without->info().build);
  const std::vector<StrategyLine> built_in = strategies(*without).value();
  for (const StrategyLine& line : built_in) EXPECT_EQ(line.source, "");
  const Graph graph = graph_of(kSum);
  for (const Variant& variant : variants_of(*without, graph)) EXPECT_THAT(variant.name, Not(StartsWith("unrolled")));
}

TEST(AddedStrategies, AreFoundInTheFoldersOfBackends) {
  ASSERT_EQ(::setenv("COLLAGE_BACKEND_PATH", COLLAGE_STRATEGIES "/example", 1), 0);
  Registry here = registry();
  const auto backend = here.get("native");
  ::unsetenv("COLLAGE_BACKEND_PATH");
  ASSERT_TRUE(backend) << to_string(backend.error());
  EXPECT_THAT(strategies(**backend).value(), Contains(Field(&StrategyLine::implementation, "unrolled")));
}

struct Odd {
  const char* fault;
  const char* says;
};

class OddStrategies : public testing::TestWithParam<Odd> {};

TEST_P(OddStrategies, AreRefusedAndSayWhy) {
  ASSERT_EQ(::setenv("COLLAGE_TEST_STRATEGIES", GetParam().fault, 1), 0);
  Registry here = registry();
  const auto backend = here.get("native:strategies=" + kOdd);
  ::unsetenv("COLLAGE_TEST_STRATEGIES");
  ASSERT_FALSE(backend);
  EXPECT_THAT(backend.error().saw, AllOf(HasSubstr(kOdd), HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(Libraries, OddStrategies,
                         testing::Values(Odd{"null", "returns nothing"}, Odd{"size", "bytes"},
                                         Odd{"abi", "ABI version"}, Odd{"row-size", "rows of"},
                                         Odd{"version", "Halide 3.0"}, Odd{"no-version", "no version"},
                                         Odd{"no-rows", "no rows"}, Odd{"family", "the family 'nonsense'"},
                                         Odd{"no-family", "the family ''"}, Odd{"name", "the name 'odd.name'"},
                                         Odd{"taken", "a second elementwise/flat"},
                                         Odd{"no-build", "without space or build"}, Odd{"no-layout", "without layouts"},
                                         Odd{"condition", "no comparison: ="}, Odd{"choices", "no choice"},
                                         Odd{"legal", "odd"}),
                         [](const auto& which) {
                           std::string name = which.param.fault;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(AddedStrategies, WithConditionsOnUnknownFactsAreRefusedWhereTheyWouldApply) {
  ASSERT_EQ(::setenv("COLLAGE_TEST_STRATEGIES", "fact", 1), 0);
  Registry here = registry();
  const auto backend = here.get("native:strategies=" + kOdd);
  ::unsetenv("COLLAGE_TEST_STRATEGIES");
  ASSERT_TRUE(backend) << to_string(backend.error());
  const Graph graph = graph_of(kSum);
  const auto variants = (*backend)->support(graph, region_of(graph), {});
  ASSERT_FALSE(variants);
  EXPECT_THAT(variants.error().detail, AllOf(HasSubstr(kOdd), HasSubstr("no fact called no_such_fact")));
}

TEST(AddedStrategies, OfAFileThatIsNoneAreRefused) {
  Registry here = registry();
  EXPECT_THAT(here.get("native:strategies=/nonexistent.so").error().saw, HasSubstr("/nonexistent.so"));
  EXPECT_THAT(here.get("native:strategies=" + test::build_path("/lib/collage/libcollage_backend_host.so")).error().saw,
              HasSubstr("no symbol collage_native_strategies"));
}

}  // namespace
}  // namespace collage::test
