// What people see of progress, and the log of a program that ends without a word.
#include "cli/progress_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "cli/event_log.h"
#include "tests/cli/cli_fixture.h"

namespace collage::cli {
namespace {

ProgressEvent some_event() {
  return {.phase = "price", .done = 12, .total = 48, .refused = 3, .best_us = 812.44, .note = {}, .left_s = 35.2};
}

TEST(ProgressText, BarShowsPhaseCountsBestAndTimeLeft) {
  EXPECT_EQ(bar_text(some_event(), 200),
            "price     [######..................] 12/48, 3 refused, 36 left, best 812.4 us, 35 s left");
}

TEST(ProgressText, BarFitsTheTerminal) {
  EXPECT_EQ(bar_text(some_event(), 40).size(), 40U);
  EXPECT_EQ(bar_text(some_event(), 0), "");
}

TEST(ProgressText, OnlyWhatIsKnownIsSaid) {
  EXPECT_EQ(line_text({.phase = "import", .note = {}}), "import");
  EXPECT_EQ(line_text({.phase = "price", .done = 4, .total = 4, .note = {}}), "price 4/4");
  EXPECT_EQ(bar_text({.phase = "search", .best_us = 5, .note = {}}, 80), "search    best 5.0 us");
  EXPECT_EQ(bar_text({.phase = "price", .best_us = 5, .rival = "openvino", .speedup = 1.314, .note = {}}, 80),
            "price     best 5.0 us, 1.31x of openvino");
  EXPECT_EQ(line_text({.phase = "evolve", .best_us = 5, .bound_us = 3.9, .note = {}}),
            "evolve best 5.0 us, proven within 22 %");
  EXPECT_EQ(line_text({.phase = "price", .bound_us = 3.9, .note = {}}), "price") << "of nothing yet";
}

TEST(ProgressText, LongTimesAreInMinutes) {
  EXPECT_EQ(time_left_text(89), "89 s left");
  EXPECT_EQ(time_left_text(290), "5 min left");
}

TEST(ProgressText, MoreDoneThanThereWasToDoIsNoOverflow) {
  EXPECT_EQ(counts_text({.phase = "price", .done = 9, .total = 4, .note = {}}), "9/4");
  EXPECT_EQ(bar_text({.phase = "price", .done = 9, .total = 4, .note = {}}, 36).back(), ']');
}

TEST(EventLog, EndsEvenWhenNobodyEndedIt) {
  const test::ScratchFolder folder;
  { EventLog log(folder.file("events")); }
  const auto line = testing::parsed(testing::read_all(folder.file("events")));
  EXPECT_EQ(line["outcome"], "failed");
}

TEST(EventLog, EndsOnce) {
  const test::ScratchFolder folder;
  {
    EventLog log(folder.file("events"));
    log.finish(Outcome::kDone, 0);
    log.finish(Outcome::kFailed, 70);
    log.write({.phase = "price", .note = {}});
  }
  EXPECT_EQ(testing::parsed(testing::read_all(folder.file("events")))["outcome"], "done");
}

TEST(EventLog, BytesThatAreNoTextAreReplaced) {
  const test::ScratchFolder folder;
  {
    EventLog log(folder.file("events"));
    log.write({.phase = "price", .best_us = std::numeric_limits<double>::infinity(), .note = "\xff\n"});
  }
  const std::string text = testing::read_all(folder.file("events"));
  const auto line = testing::parsed(text.substr(0, text.find('\n')));
  EXPECT_TRUE(line["best_us"].is_null());
}

}  // namespace
}  // namespace collage::cli
