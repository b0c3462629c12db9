// Proofs that some condition always holds; and that every family of strategies has one that does.
#include <gtest/gtest.h>

#include "compiler/selection/strategy.h"
#include "tests/backends/native/compiler/gap_in.h"
#include "tests/support/dice.h"

namespace collage::native {
namespace {

constexpr std::array<Domain, 4> kDomains = {
    {{"flag", 0, 1}, {"size", 1, 1 << 20}, {"lanes", 4, 16}, {"layouts", 1, 3}}};

struct Case {
  std::vector<std::string_view> conditions;
  const char* gap;  ///< null: there is none
};

class Coverage : public testing::TestWithParam<Case> {};

TEST_P(Coverage, IsProvedOrAGapIsNamed) {
  const auto gap = gap_in(GetParam().conditions, kDomains);
  EXPECT_EQ(gap.value_or("none"), GetParam().gap == nullptr ? "none" : GetParam().gap);
}

INSTANTIATE_TEST_SUITE_P(
    Conditions, Coverage,
    testing::Values(Case{{""}, nullptr}, Case{{"any == 3", ""}, nullptr}, Case{{}, "anything"},
                    Case{{"any == 3 or any != 3"}, nullptr}, Case{{"any < 3", "any >= 3"}, nullptr},
                    Case{{"any < 3", "any > 3"}, "any = 3"}, Case{{"any <= 3", "any > 4"}, "any = 4"},
                    Case{{"flag == 0", "flag == 1"}, nullptr}, Case{{"flag == 0"}, "flag = 1"},
                    Case{{"layouts != 2", "layouts != 1"}, nullptr},
                    Case{{"layouts == 1", "layouts == 2"}, "layouts = 3"}, Case{{"size > 0"}, nullptr},
                    Case{{"size > 1"}, "size = 1"}, Case{{"size * size >= 1"}, nullptr},
                    Case{{"size % lanes < 16"}, nullptr}, Case{{"size % lanes < 15"}, "size % lanes = 15"},
                    Case{{"any % lanes == 0", "any % lanes != 0"}, nullptr},
                    Case{{"size % lanes == 0", "size % 4 != 0"}, "size % 4 = 0, size % lanes = 1"},
                    Case{{"flag + size >= 1"}, nullptr}, Case{{"flag + flag < 2"}, "flag + flag = 2"},
                    Case{{"size + flag < 1 + lanes", "size + flag >= 1 + lanes"}, nullptr},
                    Case{{"size >= lanes", "size < lanes"}, nullptr}, Case{{"lanes > flag"}, nullptr},
                    Case{{"any == 0 or size == 7", "any != 0 and size != 7"}, nullptr},
                    Case{{"flag == 0 and any > 2", "flag == 1", "any <= 2"}, nullptr},
                    Case{{"flag == 0 and any > 2", "flag == 1", "any < 2"}, "any = 2, flag = 0"}));

std::string drawn_condition(Dice& dice) {
  constexpr std::array<std::string_view, 6> kSigns = {"==", "!=", "<=", ">=", "<", ">"};
  std::string text;
  for (std::size_t i = dice.below(4) + 1; i > 0; --i) {
    text += dice.one_in(2) ? "a " : "b ";
    text += kSigns.at(dice.below(kSigns.size()));
    text += ' ' + std::to_string(dice.below(6)) + (i > 1 ? dice.one_in(2) ? " and " : " or " : "");
  }
  return text;
}

TEST(CoverageOfFacts, IsWhatTryingAllNumbersSays) {
  constexpr std::array<Domain, 2> kSmall = {{{"a", 0, 4}, {"b", 1, 5}}};
  Dice dice(11);
  int gaps = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> texts;
    for (std::size_t i = dice.below(4) + 1; i > 0; --i) texts.push_back(drawn_condition(dice));
    bool is_covered = true;
    for (std::int64_t a = 0; a <= 4; ++a)
      for (std::int64_t b = 1; b <= 5; ++b)
        is_covered = is_covered && std::ranges::any_of(texts, [&](const std::string& text) {
                       return holds(text, {{"a", a}, {"b", b}});
                     });
    gaps += is_covered ? 0 : 1;
    ASSERT_EQ(!gap_in(std::vector<std::string_view>(texts.begin(), texts.end()), kSmall), is_covered)
        << testing::PrintToString(texts);
  }
  EXPECT_GT(gaps, 200);
  EXPECT_LT(gaps, 1800);
}

/// Facts for which no implementation of the family may apply; nothing when one always does.
std::optional<std::string> gap_of(const Family& family) {
  std::vector<std::string_view> conditions;
  for (const Implementation& one : family.implementations) conditions.push_back(one.condition);
  return gap_in(conditions, family.domains);
}

TEST(CoverageOfFacts, IsProvedForEveryFamilyOfStrategies) {
  for (const Family* family : all_families()) EXPECT_EQ(gap_of(*family).value_or("none"), "none") << family->name;
}

TEST(CoverageOfFacts, NamesAFactOutsideOfItsDomain) {
  EXPECT_FALSE(misfit_in({{"flag", 1}, {"size", 3}, {"lanes", 8}, {"layouts", 2}}, kDomains));
  EXPECT_EQ(misfit_in({{"flag", 2}, {"size", 3}, {"lanes", 8}, {"layouts", 2}}, kDomains), "flag = 2");
  EXPECT_EQ(misfit_in({{"flag", 1}, {"size", 3}, {"lanes", 8}}, kDomains), "layouts is missing");
}

}  // namespace
}  // namespace collage::native
