#include "api/tune/bench_plot.h"

#include <gmock/gmock.h>

namespace collage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// A plan of 1 ms and a rival of 2 ms, ten rounds each, in one of which the rival took 9 ms.
BenchReport timed() {
  BenchReport made{.model = "m.onnx"};
  for (const auto& [name, ns] : {std::pair{"collage", 1'000'000}, {"rival", 2'000'000}}) {
    made.contenders.push_back({.name = name, .version = "1", .precision = "f32"});
    made.contenders.back().lane = {.name = name, .samples_ns = std::vector<std::int64_t>(10, ns)};
    made.contenders.back().numbers.verdict = NumbersCheck::Verdict::kRight;
  }
  made.contenders[1].lane.samples_ns[3] = 9'000'000;
  made.ratios = {{.against = "rival", .ratio = {.ratio = 2, .low = 1.9, .high = 2.1}}};
  return made;
}

TEST(BenchPlot, HasADotForEachRoundAndCountsWhatLiesBeyondTheAxis) {
  const std::string plot = plot_of({timed()});
  EXPECT_EQ(count(plot, "<circle"), 19U);
  EXPECT_EQ(count(plot, "class=\"median\""), 2U);
  EXPECT_THAT(plot, HasSubstr("plan faster by 2.00x [1.90, 2.10], 1 beyond"));
  EXPECT_THAT(plot, HasSubstr(">1 ms</text>"));
  EXPECT_EQ(count(plot_of({timed(), timed()}), "<circle"), 38U) << "a plan for many shapes";
}

TEST(BenchPlot, MediansAreAsFarFromTheLeftAsTheyTake) {
  const std::string plot = plot_of({timed()});
  const auto x_of = [&](std::size_t from) {
    return std::stod(plot.substr(plot.find("x1=\"", plot.find("class=\"median\"", from)) + 4));
  };
  const double zero = std::stod(plot.substr(plot.find("x1=\"") + 4));  // of the first tick
  const double own = x_of(0) - zero;
  const double rival = x_of(plot.find("class=\"other\"")) - zero;
  EXPECT_NEAR(rival / own, 2, 0.01);
}

TEST(BenchPlot, NamesStayText) {
  BenchReport hostile = timed();
  hostile.model = "</text><script>alert(1)</script>&";
  hostile.contenders[1].name = std::string(10'000, 'x') + "<b>";
  const std::string plot = plot_of({hostile});
  EXPECT_THAT(plot, Not(HasSubstr("<script>")));
  EXPECT_THAT(plot, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&amp;"));
  EXPECT_THAT(plot, HasSubstr("&lt;b&gt;"));
  EXPECT_LT(plot.size(), 20'000U);
}

TEST(BenchPlot, NothingTimedIsAnEmptyPicture) {
  BenchReport nothing = timed();
  for (BenchContender& one : nothing.contenders) one.lane.samples_ns.clear();
  EXPECT_EQ(count(plot_of({nothing}), "<circle"), 0U);
  EXPECT_THAT(plot_of({nothing}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace collage
