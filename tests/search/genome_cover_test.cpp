#include "search/genome_cover.h"

#include <gtest/gtest.h>

#include "level2_fixture.h"
#include "search/moves.h"

namespace collage {
namespace {

using testing_support::Level2World;
using testing_support::who;

Level2World::RegionClock affine(std::int64_t first, std::int64_t more) {
  return [=](const NodeSet& nodes) { return first + more * (static_cast<std::int64_t>(nodes.count()) - 1); };
}

Genome with_region(const Level2World& world, std::size_t begin, std::size_t end, const std::string& engine = "G") {
  return assigned(genome_of_one(world.size(), {}), begin, end, {OwnerKind::kRegion, engine});
}

TEST(GenomeCover, EngineTakesItsSegmentAndLevelOneTheRest) {
  Level2World world = Level2World::chain(5);
  world.library("library", 100);
  world.engine("G", affine(120, 30));
  EXPECT_EQ(who(world.level1()), "library library library library library");
  EXPECT_EQ(who(world.cover_of(with_region(world, 1, 4))), "library G[3] library");
}

TEST(GenomeCover, PredictsUnknownRegionsFromKnownOnes) {
  Level2World world = Level2World::chain(6);
  world.library("library", 100);
  world.engine("G", affine(120, 30));
  GenomeDecoder decoder(world.problem());
  // Nothing known: the sum of the parts.
  EXPECT_EQ(decoder.cover_of(with_region(world, 0, 6))->cost_ns, 6 * 120 + 10);
  const Cover timed = decoder.cover_of(with_region(world, 0, 2)).value();
  decoder.learn(timed, world.run(timed));
  EXPECT_EQ(decoder.cover_of(with_region(world, 0, 2))->cost_ns, 150 + 10 + 4 * 110);
  // Two nodes took 150 of 240.
  EXPECT_EQ(decoder.cover_of(with_region(world, 0, 4))->cost_ns, 4 * 120 * 150 / 240 + 10 + 2 * 110);
}

TEST(GenomeCover, UsesTheMeasuredCostOfARegionThatLevelOneKnows) {
  Level2World world = Level2World::chain(3);
  world.library("library", 100);
  world.engine("G", affine(120, 30));
  world.add("G", {0, 1}, 77, "default");
  const Cover cover = world.cover_of(with_region(world, 0, 2));
  EXPECT_TRUE(std::holds_alternative<Measured>(cover.steps.front().cost));
  EXPECT_EQ(cover.cost_ns, 77 + 100 + 2 * 10);
}

TEST(GenomeCover, NodesTheEngineRefusesStayWithLevelOne) {
  // n1 is a side branch: 0 -> 1 -> 3 and 0 -> 2 -> 3.
  Level2World world(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  world.refuse("G", 1);
  world.library("library", 100);
  world.engine("G", affine(120, 30));
  const Cover cover = world.cover_of(with_region(world, 0, 3));
  EXPECT_EQ(who(cover), "G[2] library library");
  // With n3 in the region a path would leave it over n1 and come back.
  GenomeDecoder decoder(world.problem());
  const auto refused = decoder.cover_of(with_region(world, 0, 4));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "search/refused-segment");
}

TEST(GenomeCover, SegmentOfOneBackendIsLeftToOthersOnlyWhereItHasNothing) {
  Level2World world = Level2World::chain(4);
  world.library("fast", 50);
  for (const std::size_t n : {0U, 1U, 3U}) world.library("slow", n, 80);
  const Genome genome = assigned(genome_of_one(4, {}), 1, 4, {OwnerKind::kOnly, "slow"});
  EXPECT_EQ(who(world.cover_of(genome)), "fast slow fast slow");
}

TEST(GenomeCover, AsksAnEngineOnceAboutARange) {
  Level2World world = Level2World::chain(4);
  world.library("library", 100);
  world.engine("G", affine(120, 30));
  GenomeDecoder decoder(world.problem());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(decoder.cover_of(with_region(world, 1, 3)));
  EXPECT_EQ(world.asked, 1U);
}

TEST(Acceptance, GenesAreBlocksThatAnEngineTakesAndDoesNotHave) {
  Level2World world = Level2World::chain(6);
  world.refuse("G", 2);  // as an engine refuses to resize
  for (const std::size_t n : {0U, 1U, 2U, 3U, 5U}) world.library("library", n, 100);
  world.engine("G", affine(120, 30));  // the only one for n4
  GenomeDecoder decoder(world.problem());
  const std::vector<std::size_t> places = block_places(world.graph(), world.uses());
  EXPECT_EQ(places, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(who(world.level1()), "library library library library G library");
  const std::vector<Gene> genes = choose_genes(decoder, places, world.level1());
  EXPECT_EQ(genes, (std::vector<Gene>{{0, "G"}, {1, "G"}, {3, "G"}, {5, "G"}}));
  EXPECT_EQ(count_eligible_blocks(genes), 4U);
}

TEST(Genes, CountBlocksNotEngines) {
  Level2World world = Level2World::chain(3);
  world.library("library", 100);
  world.engine("G", affine(120, 30));
  world.engine("H", affine(130, 30));
  GenomeDecoder decoder(world.problem());
  const auto genes = choose_genes(decoder, block_places(world.graph(), world.uses()), world.level1());
  EXPECT_EQ(genes.size(), 6U);
  EXPECT_EQ(count_eligible_blocks(genes), 3U);
}

TEST(Genes, BlocksLieBetweenNarrowPlaces) {
  const Level2World world = Level2World::residual(9);
  std::vector<std::size_t> places = {0, 1, 2, 3, 4};  // the first block has no shortcut
  for (std::size_t b = 1; b < 9; ++b) {
    places.push_back(5 * b);
    places.push_back(5 * b + 4);
  }
  places.push_back(45);
  EXPECT_EQ(block_places(world.graph(), world.uses()), places);
}

}  // namespace
}  // namespace collage
