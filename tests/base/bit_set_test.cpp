#include "base/bit_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/dice.h"

namespace collage {
namespace {

BitSet set_of(std::size_t universe, std::initializer_list<std::size_t> members) {
  BitSet set(universe);
  for (const std::size_t member : members) set.insert(member);
  return set;
}

TEST(BitSet, WalksItsMembersAcrossWords) {
  const BitSet set = set_of(200, {0, 63, 64, 127, 199});
  EXPECT_EQ(set.members(), (std::vector<std::size_t>{0, 63, 64, 127, 199}));
  EXPECT_EQ(set.count(), 5U);
  EXPECT_EQ(set.next(65), 127U);
  EXPECT_EQ(set.next(200), 200U);
  EXPECT_EQ(set_of(200, {}).next(), 200U);
}

TEST(BitSet, IsEmptyOverTheEmptyUniverse) {
  const BitSet set(0);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.next(), 0U);
  EXPECT_TRUE(set.members().empty());
}

TEST(BitSet, AgreesWithStandardSets) {
  Dice dice(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t universe = 1 + dice.below(150);
    BitSet a(universe);
    BitSet b(universe);
    std::set<std::size_t> model_a;
    std::set<std::size_t> model_b;
    for (std::size_t i = 0; i < universe; ++i) {
      if (dice.one_in(3)) a.insert(i), model_a.insert(i);
      if (dice.one_in(2)) b.insert(i), model_b.insert(i);
    }
    std::vector<std::size_t> both;
    std::set_intersection(model_a.begin(), model_a.end(), model_b.begin(), model_b.end(), std::back_inserter(both));
    std::vector<std::size_t> only_a;
    std::set_difference(model_a.begin(), model_a.end(), model_b.begin(), model_b.end(), std::back_inserter(only_a));
    EXPECT_EQ((a & b).members(), both);
    EXPECT_EQ((a - b).members(), only_a);
    EXPECT_EQ((a | b).count(), model_a.size() + model_b.size() - both.size());
    EXPECT_EQ(a.intersects(b), !both.empty());
    EXPECT_EQ(a.is_subset_of(b), only_a.empty());
    EXPECT_TRUE((a & b).is_subset_of(a));
  }
}

TEST(BitSet, OrdersByTheFirstDifferingMember) {
  EXPECT_LT(set_of(100, {1, 70}), set_of(100, {2}));
  EXPECT_LT(set_of(100, {1, 70}), set_of(100, {1, 71}));
  EXPECT_LT(set_of(100, {1, 2}), set_of(100, {1}));
  EXPECT_EQ(set_of(100, {1}) <=> set_of(100, {1}), std::strong_ordering::equal);
}

TEST(BitSet, EqualSetsHashEqual) {
  BitSet set = set_of(100, {3, 99});
  set.insert(50);
  set.erase(50);
  EXPECT_EQ(set, set_of(100, {3, 99}));
  EXPECT_EQ(set.hash(), set_of(100, {3, 99}).hash());
  EXPECT_NE(set.hash(), set_of(100, {3, 98}).hash());
}

}  // namespace
}  // namespace collage
