#include "tune/confirm/bound_share.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>

namespace collage {
namespace {

BoundShare of_sets(std::initializer_list<double> shares) {
  BoundShare all;
  for (const double share : shares) all.add(share);
  return all;
}

TEST(BoundShare, HasTheLargestAndTheLeastOfAllSets) {
  const BoundShare share = of_sets({0.4, 0.7, 0.3});
  EXPECT_EQ(share.largest, 0.7);
  EXPECT_EQ(share.least, 0.3);
  EXPECT_EQ(share.sets, 3U);
}

TEST(BoundShare, AFifthIsReserveEnoughHoweverMuchSetsDiffer) {
  EXPECT_TRUE(of_sets({0.79}).has_reserve());
  EXPECT_TRUE(of_sets({0.01, 0.79, 0.2, 0.3}).has_reserve());
  EXPECT_TRUE(BoundShare().has_reserve()) << "what is not checked does not round";
}

TEST(BoundShare, FewSetsDoNotTellHowMuchSetsDiffer) { EXPECT_FALSE(of_sets({0.82, 0.82, 0.82}).has_reserve()); }

TEST(BoundShare, SetsThatAgreeNeedLittleReserve) {
  EXPECT_TRUE(of_sets({0.89, 0.90, 0.90, 0.88}).has_reserve());
  EXPECT_FALSE(of_sets({0.96, 0.96, 0.96, 0.96}).has_reserve());
  EXPECT_FALSE(of_sets({0.90, 0.70, 0.85, 0.88}).has_reserve());
}

TEST(BoundShare, WhatIsOutsideOnASetIsOutside) {
  EXPECT_FALSE(of_sets({0.5, 1.01, 0.5, 0.5}).has_reserve());
  EXPECT_FALSE(of_sets({1.01, 1.01, 1.01, 1.01}).has_reserve());
  EXPECT_FALSE(of_sets({0.5, std::numeric_limits<double>::infinity(), 0.5, 0.5}).has_reserve());
}

}  // namespace
}  // namespace collage
