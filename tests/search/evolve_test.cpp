#include "search/evolve.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "level2_fixture.h"

namespace collage {
namespace {

using testing_support::Level2World;
using testing_support::who;

std::int64_t size_of(const NodeSet& nodes) { return static_cast<std::int64_t>(nodes.count()); }

/// The library costs 1.0 a node; the engine 1.2 alone and 1.2 + 0.3 (k - 1) for k nodes.
Level2World planted_chain(std::size_t nodes) {
  Level2World world = Level2World::chain(nodes);
  world.library("library", 1000);
  world.engine("G", [](const NodeSet& region) { return 1200 + 300 * (size_of(region) - 1); });
  return world;
}

/// An engine that is worth it from node 13 to node 41 only, and only in long regions; a second one that never is.
Level2World planted_residual() {
  Level2World world = Level2World::residual(12);
  world.library("library", 1000);
  world.engine("G", [](const NodeSet& region) {
    std::int64_t ns = 2500;
    for (const std::size_t n : region.members()) ns += n >= 13 && n <= 41 ? 600 : 1300;
    return ns;
  });
  world.engine("H", [](const NodeSet& region) { return 1100 * size_of(region); });
  return world;
}

/// Random graph, libraries and engines; every cost is seeded, so that a region costs the same whenever asked.
Level2World random_world(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t n = 4 + below(random, 16);
  std::vector<Level2World::Edge> edges;
  for (std::size_t to = 1; to < n; ++to) {
    edges.emplace_back(to - 1 - below(random, std::min<std::size_t>(to, 3)), to);
    if (below(random, 3) == 0 && to > 3) edges.emplace_back(to - 4, to);
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  Level2World world(n, edges);
  for (std::size_t node = 0; node < n; ++node)
    world.library("library", node, 500 + static_cast<std::int64_t>(below(random, 1000)));
  for (const char* name : {"G", "H"}) {
    for (std::size_t node = 0; node < n; ++node)
      if (below(random, 8) == 0) world.refuse(name, node);
    const auto base = static_cast<std::int64_t>(below(random, 2000));
    world.engine(name, [base, seed](const NodeSet& region) {
      std::int64_t ns = base;
      for (const std::size_t node : region.members()) ns += 300 + static_cast<std::int64_t>((node * 7919 + seed) % 700);
      return ns;
    });
  }
  return world;
}

TEST(Acceptance, LevelTwoFindsTheRegionWhoseSumOfPartsMisleadsLevelOne) {
  Level2World world = planted_chain(3);
  const Cover level1 = world.level1();
  EXPECT_EQ(who(level1), "library library library");
  EXPECT_EQ(world.run(level1).ns, 3 * 1000 + 3 * world.launch_ns);
  const auto result = evolve(world.problem(), world.clock());
  ASSERT_TRUE(result && result->best);
  EXPECT_EQ(who(result->best->cover), "G[3]");
  EXPECT_EQ(result->best->evaluation.ns, 1800 + world.launch_ns);
}

TEST(Acceptance, NeverWorseThanLevelOneOrOneBackendOrOneEngine) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Level2World world = random_world(seed);
    EvolveOptions options;
    options.seed = seed;
    options.generations = 2;
    const auto result = evolve(world.problem(), world.clock(), options);
    ASSERT_TRUE(result && result->best);
    GenomeDecoder decoder(world.problem());
    const auto never_worse_than = [&](const Owner& owner) {
      if (const auto rival = decoder.cover_of(genome_of_one(world.size(), owner))) {
        EXPECT_LE(result->best->evaluation.ns, world.run(*rival).ns) << owner.backend;
      }
    };
    never_worse_than({});
    for (const char* engine : {"G", "H"}) never_worse_than({OwnerKind::kRegion, engine});
    for (const char* backend : {"G", "H", "library"}) never_worse_than({OwnerKind::kOnly, backend});
  }
}

TEST(Acceptance, RefusedBlocksNeverGoToTheEngine) {
  Level2World world = planted_chain(8);
  Level2World refusing = Level2World::chain(8);
  refusing.refuse("G", 3);
  refusing.library("library", 1000);
  refusing.engine("G", [](const NodeSet& region) { return 1200 + 300 * (size_of(region) - 1); });
  const auto result = evolve(refusing.problem(), refusing.clock());
  ASSERT_TRUE(result && result->best);
  EXPECT_EQ(who(result->best->cover), "G[3] library G[4]");
  for (const std::string& cover : refusing.covers)
    for (std::size_t at = cover.find("kernel G/"); at != std::string::npos; at = cover.find("kernel G/", at + 1))
      EXPECT_EQ((cover.substr(at, cover.find('\n', at) - at) + " ").find(" n3 "), std::string::npos) << cover;
}

TEST(Evolve, FindsAPlantedRangeInANetworkOfResidualBlocks) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Level2World world = planted_residual();
    EvolveOptions options;
    options.seed = seed;
    options.generations = 30;
    options.patience = 10;
    const auto result = evolve(world.problem(), world.clock(), options);
    ASSERT_TRUE(result && result->best);
    EXPECT_LE(result->evaluations, 200U);
    const auto ns = static_cast<double>(result->best->evaluation.ns);
    EXPECT_LT(ns, 0.95 * static_cast<double>(world.run(world.level1()).ns)) << to_text(result->best->genome);
    found += ns <= 1.02 * static_cast<double>(world.best_by_ranges()) ? 1 : 0;
  }
  EXPECT_GE(found, 8);
}

TEST(Evolve, BeatsItsSeedsOnMostRandomProblems) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Level2World world = random_world(seed);
    EvolveOptions options;
    options.seed = seed;
    std::int64_t of_seeds = 0;
    options.on_generation = [&](const Generation& generation) {
      if (generation.number == 0) of_seeds = generation.best->evaluation.ns;
    };
    const auto result = evolve(world.problem(), world.clock(), options);
    ASSERT_TRUE(result && result->best);
    better += result->best->evaluation.ns < of_seeds ? 1 : 0;
  }
  EXPECT_GE(better, 10);
}

TEST(Evolve, SameSeedSameAnswerWhateverRanBefore) {
  Level2World first = planted_residual();
  Level2World second = planted_residual();
  EvolveOptions options;
  options.seed = 5;
  const auto a = evolve(first.problem(), first.clock(), options);
  const auto b = evolve(second.problem(), second.clock(), options);
  ASSERT_TRUE(a && b && a->best && b->best);
  EXPECT_EQ(first.covers, second.covers);
  EXPECT_EQ(to_text(a->best->genome), to_text(b->best->genome));
  EXPECT_EQ(a->evaluations, b->evaluations);
}

TEST(Evolve, NeverEvaluatesACoverTwice) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Level2World world = random_world(seed);
    EvolveOptions options;
    options.seed = seed;
    const auto result = evolve(world.problem(), world.clock(), options);
    ASSERT_TRUE(result);
    EXPECT_EQ(std::set<std::string>(world.covers.begin(), world.covers.end()).size(), world.covers.size());
    EXPECT_EQ(result->evaluations, world.covers.size());
  }
}

TEST(Evolve, EveryGenerationLeavesAUsableBestThatNeverGetsWorse) {
  Level2World world = planted_residual();
  std::vector<std::int64_t> best;
  EvolveOptions options;
  options.on_generation = [&](const Generation& generation) {
    ASSERT_NE(generation.best, nullptr);
    EXPECT_EQ(generation.number, best.size());
    NodeSet covered(world.size());
    for (const CoverStep& step : generation.best->cover.steps)
      if (const Region* const region = chosen_region(step)) covered |= region->nodes;
    EXPECT_EQ(covered.count(), world.size());
    EXPECT_EQ(world.run(generation.best->cover).ns, generation.best->evaluation.ns);
    best.push_back(generation.best->evaluation.ns);
  };
  const auto result = evolve(world.problem(), world.clock(), options);
  ASSERT_TRUE(result && result->best);
  EXPECT_EQ(best.size(), result->generations + 1);
  EXPECT_TRUE(std::ranges::is_sorted(best, std::greater<>()));
  EXPECT_EQ(best.back(), result->best->evaluation.ns);
}

TEST(Evolve, OutOfTimeItReturnsTheBestSoFar) {
  for (const std::size_t allowed : {0U, 1U, 2U, 7U, 40U}) {
    SCOPED_TRACE(allowed);
    Level2World world = planted_residual();
    EvolveOptions options;
    options.out_of_time = [&] { return world.covers.size() >= allowed; };
    const auto result = evolve(world.problem(), world.clock(), options);
    ASSERT_TRUE(result);
    EXPECT_EQ(world.covers.size(), allowed);
    EXPECT_FALSE(result->finished);
    ASSERT_EQ(result->best.has_value(), allowed > 0);
    if (allowed == 1) {
      EXPECT_EQ(who(result->best->cover), who(world.level1()));
    }
  }
}

TEST(Evolve, LimitOfEvaluationsAndAStopEndIt) {
  Level2World world = planted_residual();
  EvolveOptions options;
  options.max_evaluations = 5;
  auto result = evolve(world.problem(), world.clock(), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->evaluations, 5U);
  EXPECT_FALSE(result->finished);

  std::stop_source source;
  options.stop = source.get_token();
  options.max_evaluations = 100;
  const CoverEvaluator clock = world.clock();
  result = evolve(
      world.problem(),
      [&](const Cover& cover) {
        if (world.covers.size() == 8) source.request_stop();
        return clock(cover);
      },
      options);
  ASSERT_TRUE(result && result->best);
  EXPECT_EQ(result->evaluations, 4U);
}

TEST(Evolve, EndsWhenNothingGainsAnyMore) {
  Level2World world = Level2World::chain(12);
  world.library("library", 1000);
  world.engine("G", [](const NodeSet& region) { return 5000 * size_of(region); });
  EvolveOptions options;
  options.generations = 1000;
  options.patience = 4;
  const auto result = evolve(world.problem(), world.clock(), options);
  ASSERT_TRUE(result && result->best);
  EXPECT_EQ(who(result->best->cover), who(world.level1()));
  EXPECT_EQ(result->generations, 4U);
  EXPECT_TRUE(result->finished);
}

TEST(Evolve, EndsWhenNoNewCoverIsLeft) {
  Level2World world = Level2World::chain(1);
  world.library("library", 1000);
  world.engine("G", [](const NodeSet&) { return 1200; });
  EvolveOptions options;
  options.generations = options.patience = 1000;
  const auto result = evolve(world.problem(), world.clock(), options);
  ASSERT_TRUE(result && result->best);
  EXPECT_EQ(result->evaluations, 2U);
  EXPECT_TRUE(result->finished);
}

TEST(Evolve, SurvivesEvaluationsThatFail) {
  Level2World world = planted_residual();
  const CoverEvaluator clock = world.clock();
  const auto breaks = [](const Cover& cover) {
    return std::ranges::any_of(cover.steps, [](const CoverStep& step) {
      const Region* const region = chosen_region(step);
      return region != nullptr && region->nodes.count() > 12;
    });
  };
  EvolveOptions options;
  options.generations = options.patience = 30;
  const auto result = evolve(
      world.problem(),
      [&](const Cover& cover) -> Result<Evaluation> {
        const Result<Evaluation> evaluation = clock(cover);
        if (breaks(cover)) return fail(ExitCode::kUnsupported, "test/breaks", "cover", "a region too long");
        return evaluation;
      },
      options);
  ASSERT_TRUE(result && result->best);
  EXPECT_GT(result->failures, 0U);
  EXPECT_FALSE(breaks(result->best->cover));
  EXPECT_LT(result->best->evaluation.ns, world.run(world.level1()).ns);
  EXPECT_EQ(std::set<std::string>(world.covers.begin(), world.covers.end()).size(), world.covers.size());
}

TEST(Evolve, WhenEveryEvaluationFailsThereIsNoBest) {
  Level2World world = planted_chain(4);
  const auto result = evolve(world.problem(), [](const Cover&) -> Result<Evaluation> {
    return fail(ExitCode::kUnsupported, "test/breaks", "cover", "anything");
  });
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->best);
  EXPECT_EQ(result->failures, result->evaluations);
}

TEST(Evolve, AnInterruptedEvaluationEndsIt) {
  Level2World world = planted_chain(4);
  const CoverEvaluator clock = world.clock();
  const auto result = evolve(world.problem(), [&](const Cover& cover) -> Result<Evaluation> {
    if (world.covers.size() == 2) return fail(ExitCode::kInterrupted, "test/stopped", "cover", "a stop");
    return clock(cover);
  });
  ASSERT_TRUE(result && result->best);
  EXPECT_FALSE(result->finished);
  EXPECT_EQ(result->evaluations, 3U);
}

TEST(Evolve, WithoutACoverOfLevelOneThereIsAnError) {
  Level2World world = Level2World::chain(3);
  world.library("library", 0, 1000);
  const auto result = evolve(world.problem(), world.clock());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "search/uncoverable");
}

TEST(Seeds, HoldLevelOneEveryBackendEveryEngineAndTheBestRanges) {
  Level2World world = planted_residual();
  GenomeDecoder decoder(world.problem());
  const auto seeds = seed_genomes(decoder, block_places(world.graph(), world.uses()), world.level1(), 2);
  std::set<std::string> texts;
  for (const Genome& seed : seeds) texts.insert(to_text(seed));
  for (const char* expected :
       {"0 60 level1\n", "0 60 region G\n", "0 60 region H\n", "0 60 only library\n", "0 60 only G\n", "0 60 only H\n"})
    EXPECT_TRUE(texts.contains(expected)) << expected;
  EXPECT_EQ(seeds.size(), 6U + 2 * 2);
}

}  // namespace
}  // namespace collage
