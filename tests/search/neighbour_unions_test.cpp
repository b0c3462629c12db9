#include "search/neighbour_unions.h"

#include <gtest/gtest.h>

#include "search_fixture.h"

namespace collage {
namespace {

using testing_support::Problem;

struct Part {
  std::string backend;
  std::vector<std::size_t> nodes;
  std::vector<std::size_t> repeated = {};
  std::string location = kHome;
};

/// A cover of these parts in this order, which must be a legal schedule.
Cover cover_of(const Problem& problem, const std::vector<Part>& parts) {
  Cover cover;
  for (const Part& part : parts) {
    const Region region = make_region(problem.graph(), problem.uses(), node_set(problem.graph(), part.nodes),
                                      node_set(problem.graph(), part.repeated));
    cover.steps.push_back({.backend = part.backend, .work = CoverKernel{region, {}, part.location}});
  }
  return cover;
}

/// "a {0,1}; a {1,2}", with "~{0}" for repeated nodes.
std::string unions(const Problem& problem, const Cover& cover) {
  std::string text;
  for (const NeighbourUnion& all : neighbour_unions(problem.graph(), problem.uses(), cover)) {
    text += (text.empty() ? "" : "; ") + all.backend + " " + to_string(all.region.nodes);
    if (!all.region.repeated.empty()) text += "~" + to_string(all.region.repeated);
    if (all.location != kHome) text += " at " + all.location;
    EXPECT_EQ(all.region, make_region(problem.graph(), problem.uses(), all.region.nodes, all.region.repeated));
  }
  return text;
}

TEST(NeighbourUnions, OfAChainAreEveryPairAndTheWhole) {
  const Problem chain(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(unions(chain, cover_of(chain, {{"a", {0}}, {"a", {1}}, {"a", {2}}, {"a", {3}}})),
            "a {0..3}; a {0,1}; a {1,2}; a {2,3}");
}

TEST(NeighbourUnions, NeverJoinBackendsOrLocations) {
  const Problem chain(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(unions(chain, cover_of(chain, {{"a", {0}}, {"b", {1}}, {"b", {2}}, {"a", {3}}})), "b {1,2}");
  const Cover moved = cover_of(chain, {{"a", {0}}, {"a", {1}, {}, "device"}, {"a", {2}, {}, "device"}, {"a", {3}}});
  EXPECT_EQ(unions(chain, moved), "a {1,2} at device");
}

TEST(NeighbourUnions, LeaveViewsAlone) {
  const Problem chain(3, {{0, 1}, {1, 2}});
  Cover cover = cover_of(chain, {{"a", {0}}, {"a", {1}}, {"a", {2}}});
  cover.steps[1].work = CoverView{.region = *chosen_region(cover.steps[1])};
  EXPECT_EQ(unions(chain, cover), "");
}

TEST(NeighbourUnions, LookThroughConversions) {
  const Problem chain(2, {{0, 1}});
  Cover cover = cover_of(chain, {{"a", {0}}, {"a", {1}}});
  const CoverStep conversion{.work = CoverConversion{.value = chosen_region(cover.steps[0])->outputs.front()}};
  cover.steps.insert(cover.steps.begin() + 1, conversion);
  EXPECT_EQ(unions(chain, cover), "a {0,1}");
}

TEST(NeighbourUnions, OfAForkHoldItsHeadOnce) {
  const Problem fork(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  EXPECT_EQ(unions(fork, cover_of(fork, {{"a", {0}}, {"a", {1}}, {"a", {2}}, {"b", {3}}})),
            "a {0..2}; a {0,1}; a {0,2}");
}

TEST(NeighbourUnions, GrowAroundWhatMustComeInBetween) {
  // 0 -> 1 -> 2 and 0 -> 2: the ends alone would have to wait for the middle.
  const Problem triangle(3, {{0, 1}, {1, 2}, {0, 2}});
  EXPECT_EQ(unions(triangle, cover_of(triangle, {{"a", {0}}, {"b", {1}}, {"a", {2}}})), "");
  EXPECT_EQ(unions(triangle, cover_of(triangle, {{"a", {0}}, {"a", {1}}, {"a", {2}}})), "a {0..2}; a {0,1}; a {1,2}");
}

TEST(NeighbourUnions, NeverMakeAnotherStepRunBeforeAndAfter) {
  // 0 and 1 feed both 2 and 3. As a region of its own {1,3} stands in the way of {0,2}.
  const Problem crossed(4, {{0, 2}, {1, 2}, {0, 3}, {1, 3}});
  EXPECT_EQ(unions(crossed, cover_of(crossed, {{"a", {0}}, {"b", {1}}, {"a", {2}}, {"b", {3}}})), "a {0,2}; b {1,3}");
  EXPECT_EQ(unions(crossed, cover_of(crossed, {{"a", {0}}, {"b", {1, 3}}, {"a", {2}}})), "");
}

TEST(NeighbourUnions, CoverWhatOneOfThemCovers) {
  const Problem fork(4, {{0, 1}, {0, 2}, {2, 3}});
  EXPECT_EQ(unions(fork, cover_of(fork, {{"a", {0, 1}}, {"a", {0, 2}, {0}}, {"a", {3}}})), "a {0,2,3}~{0}");
}

TEST(NeighbourUnions, RepeatWhatAllOfThemRepeat) {
  const Problem net(4, {{0, 1}, {0, 2}, {0, 3}, {2, 3}});
  const Cover cover = cover_of(net, {{"b", {0, 1}}, {"a", {0, 2}, {0}}, {"a", {0, 3}, {0}}});
  EXPECT_EQ(unions(net, cover), "a {0,2,3}~{0}");
  const Cover covering = cover_of(net, {{"a", {0, 2}}, {"b", {1}}, {"a", {0, 3}, {0}}});
  EXPECT_EQ(unions(net, covering), "a {0,2,3}");
}

TEST(NeighbourUnions, HideNothingThatARepeatedReaderNeeds) {
  // 1 is computed twice, by itself and with 2; both times it reads 0.
  const Problem net(4, {{0, 1}, {1, 2}, {1, 3}});
  EXPECT_EQ(unions(net, cover_of(net, {{"a", {0}}, {"b", {1, 2}, {1}}, {"a", {1}}, {"a", {3}}})), "a {1,3}");
  EXPECT_EQ(unions(net, cover_of(net, {{"a", {0}}, {"b", {1, 2}}, {"a", {1, 3}, {1}}})), "");
}

TEST(NeighbourUnions, OfRandomCoversAreLegalTouchingAndEachOnce) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Problem problem = Problem::random(random, 3 + seed % 7);
    const Cover cover = problem.solve().cover;
    const std::vector<NeighbourUnion> found = neighbour_unions(problem.graph(), problem.uses(), cover);
    EXPECT_EQ(found, neighbour_unions(problem.graph(), problem.uses(), cover));
    const Reachability reach(problem.graph(), problem.uses());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(reach.is_convex(found[i].region.covered()));
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(found[i] == found[j]);
    }
  }
}

/// The union takes the place of its steps in the cover: whatever else the cover holds can still run.
TEST(NeighbourUnions, TakeThePlaceOfTheirStepsInTheCover) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Problem problem = Problem::random(random, 3 + seed % 7);
    problem.conversion_ns = 0;
    const Cover cover = problem.solve().cover;
    for (const NeighbourUnion& all : neighbour_unions(problem.graph(), problem.uses(), cover)) {
      Problem rest = problem;
      rest.candidates().clear();
      for (const CoverStep& step : cover.steps)
        if (const Region* const region = chosen_region(step);
            region != nullptr && !region->covered().is_subset_of(all.region.covered()))
          rest.candidates().push_back({.region = region,
                                       .backend = step.backend,
                                       .variant = *chosen_variant(step),
                                       .cost = step.cost,
                                       .location = location_of(step)});
      const Variant variant{.name = "default",
                            .input_formats = std::vector<Format>(all.region.inputs.size()),
                            .output_formats = std::vector<Format>(all.region.outputs.size())};
      rest.candidates().push_back({.region = &all.region,
                                   .backend = all.backend,
                                   .variant = variant,
                                   .cost = Estimated{.ns = 1},
                                   .location = all.location});
      const auto solved = rest.try_solve();
      ASSERT_TRUE(solved) << to_string(solved.error());
      EXPECT_EQ(rest.check(solved->cover), "");
      ++tried;
    }
  }
  EXPECT_GT(tried, 200U);
}

}  // namespace
}  // namespace collage
