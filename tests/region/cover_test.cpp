#include "region/cover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collage {
namespace {

/// One step of each kind.
std::vector<CoverStep> every_kind() {
  CoverControl control;
  control.bodies = {{.steps = {{.backend = "a"}, {.backend = "a"}}}, {.steps = {{.backend = "a"}}}};
  return {{.work = CoverKernel{.location = "there"}},
          {.work = CoverConversion{.location = "there", .from = plain(), .to = channels_last()}},
          {.work = CoverTransfer{.format = channels_last(), .from = "there", .to = kHome}},
          {.work = CoverView{.location = "there"}},
          {.work = CoverRename{.from = plain(), .to = channels_last()}},
          {.work = std::move(control)}};
}

template <class Query>
std::vector<bool> answers(Query query) {
  std::vector<bool> answers;
  for (const CoverStep& step : every_kind()) answers.push_back(query(step));
  return answers;
}

TEST(CoverStep, SaysWhatRunsInIt) {
  std::vector<std::string_view> names;
  for (const CoverStep& step : every_kind()) names.push_back(kind_name(step));
  EXPECT_THAT(names, testing::ElementsAre("kernel", "convert", "transfer", "view", "view", "control"));
  EXPECT_EQ(answers(is_kernel), (std::vector<bool>{true, false, false, false, false, false}));
  EXPECT_EQ(answers(is_view), (std::vector<bool>{false, false, false, true, true, false}));
  EXPECT_EQ(answers(has_artifact), (std::vector<bool>{true, true, false, false, false, false}));
  EXPECT_EQ(answers(needs_backend), (std::vector<bool>{true, true, true, false, false, false}));
}

TEST(CoverStep, HasNodesOrMovesAValue) {
  const std::vector<bool> with_nodes = {true, false, false, true, false, true};
  EXPECT_EQ(answers([](const CoverStep& step) { return chosen_region(step) != nullptr; }), with_nodes);
  EXPECT_EQ(answers([](const CoverStep& step) { return chosen_variant(step) != nullptr; }), with_nodes);
  EXPECT_EQ(answers([](const CoverStep& step) { return !move_of(step); }), with_nodes);
}

TEST(CoverStep, KnowsThePlacesOfWhatItMoves) {
  const std::vector<CoverStep> steps = every_kind();
  EXPECT_EQ(move_of(steps[1])->from, (Place{"there", plain()}));
  EXPECT_EQ(move_of(steps[1])->to, (Place{"there", channels_last()}));
  EXPECT_EQ(move_of(steps[2])->from, (Place{"there", channels_last()}));
  EXPECT_EQ(move_of(steps[2])->to, (Place{kHome, channels_last()}));
  EXPECT_EQ(move_of(steps[4])->to, (Place{kHome, channels_last()}));
  EXPECT_EQ(location_of(steps[0]), "there");
  EXPECT_EQ(location_of(steps[2]), kHome) << "a transfer joins two";
}

TEST(Cover, CountsTheStepsOfBodies) { EXPECT_EQ(step_count({.steps = every_kind()}), 6U + 3U); }

}  // namespace
}  // namespace collage
