#include "search/genome.h"

#include <gtest/gtest.h>

#include "search/moves.h"

namespace collage {
namespace {

const Owner kLevel1{};
const Owner kEngine{OwnerKind::kRegion, "engine:opt=all"};
const Owner kOther{OwnerKind::kRegion, "other"};
const Owner kLibrary{OwnerKind::kOnly, "library"};

std::string text_of(const Genome& genome) {
  std::string text = to_text(genome);
  for (char& c : text)
    if (c == '\n') c = ';';
  return text;
}

TEST(Genomes, AssigningCutsTheSegmentsBelow) {
  const Genome genome = assigned(genome_of_one(10, kLevel1), 3, 6, kEngine);
  EXPECT_EQ(text_of(genome), "0 3 level1;3 6 region engine:opt=all;6 10 level1;");
  EXPECT_EQ(text_of(assigned(genome, 5, 10, kLibrary)), "0 3 level1;3 5 region engine:opt=all;5 10 only library;");
  EXPECT_EQ(assigned(genome, 3, 6, kLevel1), genome_of_one(10, kLevel1));
}

TEST(Genomes, RegionsSideBySideStayTwo) {
  const Genome two = assigned(genome_of_one(10, kEngine), 4, 10, kEngine);
  EXPECT_EQ(text_of(two), "0 4 region engine:opt=all;4 10 region engine:opt=all;");
  EXPECT_EQ(split(genome_of_one(10, kEngine), 4), two);
  EXPECT_EQ(merged(two, 0, kEngine), genome_of_one(10, kEngine));
  EXPECT_EQ(merged(two, 0, kLibrary), genome_of_one(10, kLibrary));
}

TEST(Genomes, SplittingWhatLevelOneHasChangesNothing) {
  EXPECT_EQ(split(genome_of_one(10, kLevel1), 4), genome_of_one(10, kLevel1));
}

TEST(Genomes, BordersMoveAndSwallow) {
  const Genome genome = assigned(genome_of_one(10, kLevel1), 3, 6, kEngine);
  EXPECT_EQ(text_of(with_border_at(genome, 1, 1)), "0 1 level1;1 6 region engine:opt=all;6 10 level1;");
  EXPECT_EQ(text_of(with_border_at(genome, 2, 99)), "0 3 level1;3 10 region engine:opt=all;");
  EXPECT_EQ(with_border_at(genome, 1, 6), genome_of_one(10, kLevel1));
}

TEST(Genomes, CrossAtCommonBorders) {
  const Genome a = assigned(assigned(genome_of_one(10, kLevel1), 2, 4, kEngine), 6, 8, kEngine);
  const Genome b = assigned(assigned(genome_of_one(10, kLevel1), 2, 6, kOther), 8, 10, kLibrary);
  EXPECT_EQ(common_borders(a, b), (std::vector<std::size_t>{0, 2, 6, 8, 10}));
  EXPECT_EQ(text_of(crossed(a, b, 2, 6)), "0 2 level1;2 6 region other;6 8 region engine:opt=all;8 10 level1;");
  EXPECT_EQ(crossed(a, b, 0, 10), b);
}

TEST(Genomes, TextParsesBack) {
  const Genome genome =
      assigned(assigned(assigned(genome_of_one(12, kLevel1), 1, 4, kEngine), 4, 6, kEngine), 8, 12, kLibrary);
  const auto back = parse_genome(to_text(genome), 12);
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, genome);
  for (const char* bad : {"", "0 5 level1\n", "0 5 level1\n6 12 level1\n", "0 12 region\n", "0 12 level1 x\n",
                          "0 12 best\n", "0 0 level1\n0 12 level1\n", "x", "0 12", "-1 12 level1\n"})
    EXPECT_FALSE(parse_genome(bad, 12)) << bad;
}

TEST(Genomes, RandomMovesAndCrossingsStayPartitionsInCanonicalForm) {
  const MoveSpace space = {.places = {0, 4, 9, 15, 20},
                           .genes = {{0, "engine:opt=all"}, {2, "other"}, {3, "other"}},
                           .owners = {kLevel1, kEngine, kOther, kLibrary},
                           .rates = {}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Genome a = genome_of_one(20, kLevel1);
    Genome b = genome_of_one(20, kEngine);
    for (int step = 0; step < 40; ++step) {
      Genome child = moved(crossed_at_random(a, b, random), space, random);
      const auto back = parse_genome(to_text(child), 20);
      ASSERT_TRUE(back) << to_string(back.error());
      ASSERT_EQ(*back, child);
      a = std::exchange(b, std::move(child));
    }
  }
}

TEST(Genomes, EveryMoveIsDrawn) {
  const MoveSpace space = {
      .places = {0, 5, 10, 15, 20}, .genes = {{1, "other"}}, .owners = {kLevel1, kLibrary}, .rates = {}};
  const Genome start = assigned(assigned(genome_of_one(20, kLevel1), 5, 10, kEngine), 10, 15, kEngine);
  std::set<std::string> seen;
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) seen.insert(to_text(moved(start, space, random)));
  for (const Genome& expected :
       {assigned(start, 5, 15, kOther), merged(start, 1, kEngine), with_border_at(start, 2, 11),
        with_border_at(start, 3, 20), assigned(start, 10, 15, kLibrary), split(start, 7)})
    EXPECT_TRUE(seen.contains(to_text(expected))) << to_text(expected);
}

}  // namespace
}  // namespace collage
