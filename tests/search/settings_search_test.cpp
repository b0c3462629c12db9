#include "search/settings_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace collage {
namespace {

/// Tiles of registers: 28 x 6 x 4, of which those that fit 32 registers are legal.
TuningSpace tiles() {
  TuningSpace space{.way = "direct.nhwc",
                    .choices = {{.name = "tile_c", .values = {1, 2, 3, 4, 5, 6}},
                                {.name = "tile_x", .values = {}},
                                {.name = "unroll", .values = {1, 2, 4, 8}}},
                    .is_legal = [](const Settings& s) { return s[0] * s[1] + s[0] + 1 <= 32; },
                    .seeds = {{1, 1, 1}, {2, 2, 1}},
                    .shape = {}};
  for (std::int64_t x = 1; x <= 28; ++x) space.choices[1].values.push_back(x);
  return space;
}

/// Smooth, with its best at (4, 6, 4).
std::int64_t time_of(const Settings& s) {
  const auto off = [](double a, double b) { return std::abs(std::log2(a / b)); };
  return static_cast<std::int64_t>(1000 * (1 + off(static_cast<double>(s[0]), 4) + off(static_cast<double>(s[1]), 6) +
                                           0.3 * off(static_cast<double>(s[2]), 4)));
}

std::size_t legal_count(const TuningSpace& space) {
  std::size_t count = 0;
  for (const std::int64_t a : space.choices[0].values)
    for (const std::int64_t b : space.choices[1].values)
      for (const std::int64_t c : space.choices[2].values) count += space.is_legal({a, b, c}) ? 1 : 0;
  return count;
}

std::vector<Settings> run(SettingsSearch& search, std::size_t tries) {
  std::vector<Settings> tried;
  while (tried.size() < tries) {
    const std::vector<Settings> next = search.next(4);
    if (next.empty()) break;
    for (const Settings& one : next) search.learn(one, time_of(one));
    tried.insert(tried.end(), next.begin(), next.end());
  }
  return tried;
}

TEST(SettingsSearch, FindsTheBestWithAFractionOfTheSpace) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SettingsSearch search(tiles(), seed);
    if (time_of(std::ranges::min(run(search, 60), {}, time_of)) <= 1300) ++found;
  }
  EXPECT_GE(found, 16) << "of 20 seeds, with 60 of " << legal_count(tiles()) << " settings";
}

TEST(SettingsSearch, ProposesLegalOnesOnceUntilNoneIsLeft) {
  SettingsSearch search(tiles(), 1);
  std::vector<Settings> tried = run(search, 100'000);
  EXPECT_EQ(tried.size(), legal_count(tiles()));
  for (const Settings& one : tried) EXPECT_TRUE(tiles().is_legal(one));
  std::ranges::sort(tried);
  EXPECT_EQ(std::ranges::adjacent_find(tried), tried.end());
  EXPECT_TRUE(search.next(1).empty());
}

TEST(SettingsSearch, IsTheSameForTheSameSeedAndTimes) {
  SettingsSearch a(tiles(), 7);
  SettingsSearch b(tiles(), 7);
  SettingsSearch c(tiles(), 8);
  const auto tried = run(a, 40);
  EXPECT_EQ(tried, run(b, 40));
  EXPECT_NE(tried, run(c, 40));
}

TEST(SettingsSearch, BeginsWithSeedsOfOthersThenItsOwn) {
  SettingsSearch search(tiles(), 1);
  search.learn({2, 2, 1}, 500);
  search.add_seed({3, 3, 1});
  search.add_seed({4, 4, 1});
  search.add_seed({6, 28, 1});  // not legal
  search.add_seed({2, 2, 1});   // known
  EXPECT_EQ(search.next(3), (std::vector<Settings>{{3, 3, 1}, {4, 4, 1}, {1, 1, 1}}));
}

TEST(SettingsSearch, WhatDoesNotWorkIsNoParentAndComesNoMore) {
  SettingsSearch search(tiles(), 1);
  search.learn({1, 1, 1}, std::nullopt);
  EXPECT_EQ(search.next(1), (std::vector<Settings>{{2, 2, 1}}));
}

TEST(SettingsSearch, ASpaceWithoutChoicesHasOneSetting) {
  const TuningSpace none{
      .way = "flat", .choices = {}, .is_legal = [](const Settings&) { return true; }, .seeds = {}, .shape = {}};
  SettingsSearch search(none, 1);
  EXPECT_EQ(search.next(4).size(), 1U);
  EXPECT_TRUE(search.next(4).empty());
}

}  // namespace
}  // namespace collage
