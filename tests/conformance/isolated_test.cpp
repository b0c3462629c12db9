#include "tests/conformance/isolated.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

namespace collage::conformance {
namespace {

using std::chrono::milliseconds;

Outcome refused_with(const std::string& detail) {
  return {.kind = Outcome::Kind::kRefused, .reason = "type", .detail = detail};
}

TEST(Isolated, BringsOutcomesBackInOrder) {
  const auto outcomes = run_isolated(
      3, [](std::size_t i) { return refused_with(std::to_string(i)); }, milliseconds(5000));
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[2].kind, Outcome::Kind::kRefused);
  EXPECT_EQ(outcomes[2].reason, "type");
  EXPECT_EQ(outcomes[2].detail, "2");
}

TEST(Isolated, ACrashIsTheFailureOfOnePiece) {
  const auto outcomes = run_isolated(
      3,
      [](std::size_t i) {
        if (i == 1) ::kill(::getpid(), SIGKILL);
        return refused_with("a\nb");
      },
      milliseconds(5000));
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[0].detail, "a b");
  EXPECT_EQ(outcomes[1].kind, Outcome::Kind::kFailed);
  EXPECT_NE(outcomes[1].detail.find("died"), std::string::npos) << outcomes[1].detail;
  EXPECT_EQ(outcomes[2].kind, Outcome::Kind::kRefused);
}

TEST(Isolated, AHangIsTheFailureOfOnePiece) {
  const auto outcomes = run_isolated(
      2,
      [](std::size_t i) {
        while (i == 0) ::pause();
        return Outcome{};
      },
      milliseconds(200));
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kFailed);
  EXPECT_EQ(outcomes[1].kind, Outcome::Kind::kPass);
}

}  // namespace
}  // namespace collage::conformance
