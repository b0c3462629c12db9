// How tensors lie along loop axes.
#include "compiler/analysis/space.h"

#include <gtest/gtest.h>

#include "tests/support/dice.h"

namespace collage::native {
namespace {

using Axes = std::vector<std::vector<std::size_t>>;
using Order = std::vector<std::size_t>;

/// Every axis of the result a loop of its own.
Space apart(const Extents& result) {
  Space space{.result = result, .axes = {}};
  for (std::size_t i = 0; i < result.size(); ++i) space.axes.push_back({i});
  return space;
}

/// All axes one loop.
Space joined(const Extents& result) {
  Space space{.result = result, .axes = {{}}};
  for (std::size_t i = 0; i < result.size(); ++i) space.axes[0].push_back(i);
  return space;
}

Axes collapsed(const Extents& result, const Format& format, const std::vector<Shaped>& tensors) {
  return collapsed_space(result, format, tensors).axes;
}

TEST(MemoryOrder, IsOnnxOrderForPlain) {
  EXPECT_EQ(memory_order(4, plain()), (Order{0, 1, 2, 3}));
  EXPECT_EQ(memory_order(0, plain()), Order());
}

TEST(MemoryOrder, PutsChannelsInnermostForChannelsLast) {
  EXPECT_EQ(memory_order(3, channels_last()), (Order{0, 2, 1}));
  EXPECT_EQ(memory_order(4, channels_last()), (Order{0, 2, 3, 1}));
  EXPECT_EQ(memory_order(5, channels_last()), (Order{0, 2, 3, 4, 1}));
  EXPECT_EQ(memory_order(2, channels_last()), (Order{0, 1}));
}

TEST(StridesOf, AreThoseOfADenseTensor) {
  EXPECT_EQ(strides_of({2, 3, 4, 5}, plain()), (Extents{60, 20, 5, 1}));
  EXPECT_EQ(strides_of({2, 3, 4, 5}, channels_last()), (Extents{60, 1, 15, 3}));
  EXPECT_EQ(strides_of({}, plain()), Extents());
}

TEST(Aligned, PutsOnesInFront) {
  EXPECT_EQ(aligned({3, 4}, 4), (Extents{1, 1, 3, 4}));
  EXPECT_EQ(aligned({3, 4}, 2), (Extents{3, 4}));
  EXPECT_EQ(aligned({}, 1), Extents{1});
}

TEST(ViewOf, HasTheStridesOfItsFormat) {
  EXPECT_EQ(view_of({2, 3, 4}, plain(), apart({2, 3, 4})), (View{.extents = {2, 3, 4}, .strides = {12, 4, 1}}));
  EXPECT_EQ(view_of({2, 3, 4}, channels_last(), apart({2, 3, 4})), (View{.extents = {2, 3, 4}, .strides = {12, 1, 3}}));
  EXPECT_EQ(view_of({2, 3, 4}, plain(), joined({2, 3, 4})), (View{.extents = {24}, .strides = {1}}));
}

TEST(ViewOf, StandsStillWhereATensorBroadcasts) {
  EXPECT_EQ(view_of({3, 1}, plain(), apart({2, 3, 4})), (View{.extents = {1, 3, 1}, .strides = {0, 1, 0}}));
  EXPECT_EQ(view_of({4}, plain(), apart({2, 3, 4})), (View{.extents = {1, 1, 4}, .strides = {0, 0, 1}}));
  EXPECT_EQ(view_of({}, plain(), apart({2, 3, 4})), (View{.extents = {1, 1, 1}, .strides = {0, 0, 0}}));
  EXPECT_EQ(view_of({}, plain(), joined({2, 3, 4})), (View{.extents = {1}, .strides = {0}}));
}

TEST(ViewOf, SkipsAxesOfOnePlaceInsideAGroup) {
  EXPECT_EQ(view_of({2, 1, 3}, channels_last(), joined({2, 1, 3})), (View{.extents = {6}, .strides = {1}}));
  EXPECT_EQ(view_of({1, 1, 1}, plain(), joined({1, 1, 1})), (View{.extents = {1}, .strides = {0}}));
}

TEST(ViewOf, GivesOnePlaceForALoopWithoutAxes) {
  const Space space{.result = {2, 3}, .axes = {{}, {0}, {1}}};
  EXPECT_EQ(view_of({2, 3}, plain(), space), (View{.extents = {1, 2, 3}, .strides = {0, 3, 1}}));
}

TEST(ViewOf, DoesNotExistWhereAGroupIsNoOneStride) {
  EXPECT_FALSE(view_of({2, 3, 4}, channels_last(), joined({2, 3, 4})));
  EXPECT_FALSE(view_of({3, 1}, plain(), joined({3, 4})));
  EXPECT_FALSE(view_of({4}, plain(), joined({3, 4})));
  // Neighbours in ONNX order that another axis lies between.
  const Space pixels{.result = {2, 3, 4, 5}, .axes = {{0, 2, 3}, {1}}};
  EXPECT_FALSE(view_of({2, 3, 4, 5}, plain(), pixels));
  EXPECT_EQ(view_of({2, 3, 4, 5}, channels_last(), pixels), (View{.extents = {40, 3}, .strides = {3, 1}}));
}

TEST(ViewOf, DoesNotExistForOtherShapes) {
  EXPECT_FALSE(view_of({2}, plain(), apart({3})));
  EXPECT_FALSE(view_of({2, 3}, plain(), apart({3})));
}

TEST(CollapsedSpace, IsOneLoopForEqualTensors) {
  EXPECT_EQ(collapsed({2, 3, 4, 5, 6}, plain(), {{{2, 3, 4, 5, 6}, plain()}}), (Axes{{0, 1, 2, 3, 4}}));
  EXPECT_EQ(collapsed({2, 3, 4}, channels_last(), {{{2, 3, 4}, channels_last()}}), (Axes{{0, 2, 1}}));
}

TEST(CollapsedSpace, KeepsApartWhatATensorBroadcastsAlong) {
  EXPECT_EQ(collapsed({2, 8, 4, 5}, channels_last(), {{{2, 8, 4, 5}, channels_last()}, {{8, 1, 1}, plain()}}),
            (Axes{{0, 2, 3}, {1}}));
  EXPECT_EQ(collapsed({2, 8, 4, 5}, plain(), {{{2, 8, 4, 5}, plain()}, {{8, 1, 1}, plain()}}),
            (Axes{{0}, {1}, {2, 3}}));
  EXPECT_EQ(collapsed({6, 7}, plain(), {{{6, 7}, plain()}, {{7}, plain()}}), (Axes{{0}, {1}}));
  EXPECT_EQ(collapsed({6, 7}, plain(), {{{6, 7}, plain()}, {{}, plain()}, {{1, 1}, plain()}}), (Axes{{0, 1}}));
}

TEST(CollapsedSpace, LeavesOutAxesOfOnePlace) {
  EXPECT_EQ(collapsed({1, 3, 1, 4}, plain(), {{{1, 3, 1, 4}, plain()}}), (Axes{{1, 3}}));
  EXPECT_EQ(collapsed({1, 1}, plain(), {}), (Axes{{}}));
  EXPECT_EQ(collapsed({}, plain(), {}), (Axes{{}}));
}

TEST(CollapsedSpace, SeesMixedFormats) {
  EXPECT_EQ(collapsed({2, 3, 4, 5}, plain(), {{{2, 3, 4, 5}, plain()}, {{2, 3, 4, 5}, channels_last()}}),
            (Axes{{0}, {1}, {2, 3}}));
}

/// Element addresses through a view are those of the tensor.
void expect_addresses(const Extents& own, const Format& format, const Space& space) {
  const auto view = view_of(own, format, space);
  ASSERT_TRUE(view);
  const Extents wide = aligned(own, space.result.size());
  const Extents strides = aligned(strides_of(own, format), space.result.size());
  const std::int64_t count = element_count(space.result);
  for (std::int64_t i = 0; i < count; ++i) {
    // The place as the loops count it: mixed radix over the axes of each group.
    std::int64_t rest = i;
    std::int64_t expected = 0;
    std::int64_t seen = 0;
    for (std::size_t loop = space.rank(); loop-- > 0;) {
      const std::int64_t at = rest % space.extent(loop);
      rest /= space.extent(loop);
      seen += (view->extents[loop] == 1 ? 0 : at) * view->strides[loop];
      std::int64_t inside = at;
      for (auto axis = space.axes[loop].rbegin(); axis != space.axes[loop].rend(); ++axis) {
        if (wide[*axis] != 1) expected += inside % space.result[*axis] * strides[*axis];
        inside /= space.result[*axis];
      }
    }
    ASSERT_EQ(seen, expected) << "place " << i;
  }
}

TEST(CollapsedSpace, KeepsEveryAddressAtRandom) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Extents result(1 + dice.below(5));
    for (std::int64_t& extent : result) extent = static_cast<std::int64_t>(1 + dice.below(4));
    const auto format = [&] { return result.size() >= 3 && dice.one_in(2) ? channels_last() : plain(); };
    std::vector<Shaped> tensors = {{result, format()}};
    for (std::size_t i = 0; i < dice.below(4); ++i) {
      Extents own = result;
      for (std::int64_t& extent : own)
        if (dice.one_in(3)) extent = 1;
      own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(dice.below(own.size() + 1)));
      tensors.push_back({own, own.size() == result.size() ? format() : plain()});
    }
    const Space space = collapsed_space(result, format(), tensors);
    for (const Shaped& tensor : tensors) expect_addresses(tensor.extents, tensor.format, space);
  }
}

}  // namespace
}  // namespace collage::native
