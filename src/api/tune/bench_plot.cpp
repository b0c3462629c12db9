#include "api/tune/bench_plot.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json.h"

namespace collage {
namespace {

// In pixels.
constexpr double kWidth = 1000;
constexpr double kLeft = 190;
constexpr double kRight = 260;
constexpr double kRow = 44;
constexpr double kTitle = 34;
constexpr double kAxis = 44;
constexpr double kBox = 22;  ///< height of a box; dots lie in it

constexpr double kMostSlow = 1.6;  ///< the axis ends at so many times the largest median
constexpr std::size_t kLongestName = 26;
constexpr std::size_t kLongestTitle = 90;
constexpr double kGolden =
    0.6180339887498949;  ///< multiples modulo 1 lie apart: dots of one time do not hide each other

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark}svg{background:Canvas}text{font:13px sans-serif;fill:CanvasText}"
    ".small{font-size:11px}.dot{fill:#7f8ea3;fill-opacity:.45}.box{fill:#7f8ea3;fill-opacity:.25}"
    ".median{stroke:CanvasText;stroke-width:2}.grid{stroke:CanvasText;stroke-opacity:.15}"
    ".own .dot,.own .box{fill:#1f77d0}";

/// With what is no UTF-8 replaced, because a path may hold any bytes.
std::string as_utf8(const std::string& text) { return Json::parse(to_line(text)).get<std::string>(); }

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : as_utf8(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // XML has no other control characters
  }
  return out;
}

/// The end of a path tells more than its beginning.
std::string short_name(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  std::size_t begin = name.size() - most;
  while (begin < name.size() && (static_cast<unsigned char>(name[begin]) & 0xc0) == 0x80) ++begin;
  return "..." + name.substr(begin);
}

/// 1, 2 or 5 times a power of ten, so that about five fit into the length.
double tick_of(double length) {
  const double power = std::pow(10, std::floor(std::log10(length / 5)));
  for (const double step : {1.0, 2.0, 5.0})
    if (length / (step * power) <= 6) return step * power;
  return 10 * power;
}

std::string time_text(double us) {
  if (us < 999.5) return fmt::format("{:.3g} us", us);
  return us < 1e6 ? fmt::format("{:.4g} ms", us / 1e3) : fmt::format("{:.4g} s", us / 1e6);
}

/// As in a quiet moment, like the medians.
std::vector<double> quiet_us(const RaceLane& lane) {
  std::vector<double> us;
  for (std::size_t i = 0; i < lane.samples_ns.size(); ++i)
    us.push_back(to_us(lane.samples_ns[i]) / (i < lane.slowness.size() ? lane.slowness[i] : 1));
  return us;
}

class Plot {
 public:
  std::string draw(const std::vector<BenchReport>& reports) {
    for (const BenchReport& report : reports) add(report);
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
               "width=\"{0:.0f}\" "
               "height=\"{1:.0f}\">\n<title>Times of each round</title>\n<style>{2}</style>\n",
               kWidth, y_, kStyle) +
           rows_ + "</svg>\n";
  }

 private:
  void add(const BenchReport& report) {
    double most_us = 0;
    for (const BenchContender& one : report.contenders) most_us = std::max(most_us, to_us(one.lane.median_ns()));
    end_us_ = most_us > 0 ? kMostSlow * most_us : 1;
    text(16, y_ + 22, "", "start",
         short_name(report.model, kLongestTitle) + (report.shape.empty() ? "" : " at " + report.shape) +
             fmt::format(", {} thread{}", report.threads, report.threads == 1 ? "" : "s"));
    y_ += kTitle;
    add_axis(kRow * static_cast<double>(report.contenders.size()));
    for (std::size_t i = 0; i < report.contenders.size(); ++i)
      add_row(report.contenders[i], i == 0 ? nullptr : &report.ratios[i - 1]);
    y_ += kAxis;
  }

  [[nodiscard]] double x_of(double us) const { return kLeft + std::min(1.0, us / end_us_) * (kWidth - kLeft - kRight); }

  void add_axis(double height) {
    const double tick = tick_of(end_us_);
    for (double us = 0; us <= end_us_; us += tick) {
      rows_ += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n",
                           x_of(us), y_, y_ + height);
      text(x_of(us), y_ + height + 16, "small", "middle", us == 0 ? "0" : time_text(us));
    }
  }

  void add_row(const BenchContender& one, const BenchRatio* ratio) {
    const double middle = y_ + kRow / 2;
    text(kLeft - 12, middle + 4, "", "end", short_name(one.name, kLongestName));
    rows_ += fmt::format("<g class=\"{}\">\n", ratio == nullptr ? "own" : "other");
    const std::vector<double> us = quiet_us(one.lane);
    for (std::size_t i = 0; i < us.size(); ++i) {
      if (us[i] > end_us_) continue;
      const double lift = std::fmod(kGolden * static_cast<double>(i), 1.0) - 0.5;
      rows_ += fmt::format("<circle class=\"dot\" r=\"2\" cx=\"{:.1f}\" cy=\"{:.1f}\"/>\n", x_of(us[i]),
                           middle + lift * kBox);
    }
    const double low = x_of(to_us(one.lane.quantile_ns(0.25)));
    const double high = x_of(to_us(one.lane.quantile_ns(0.75)));
    const double median = x_of(to_us(one.lane.median_ns()));
    rows_ += fmt::format("<rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>\n", low,
                         middle - kBox / 2, std::max(1.0, high - low), kBox);
    rows_ += fmt::format("<line class=\"median\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n</g>\n",
                         median, middle - kBox / 2 - 3, middle + kBox / 2 + 3);
    text(kWidth - kRight + 14, middle - 2, "", "start", time_text(to_us(one.lane.median_ns())));
    text(kWidth - kRight + 14, middle + 13, "small", "start", row_note(one, ratio, us));
    y_ += kRow;
  }

  [[nodiscard]] std::string row_note(const BenchContender& one, const BenchRatio* ratio,
                                     const std::vector<double>& us) const {
    if (one.numbers.is_wrong()) return "WRONG NUMBERS";
    std::string note = ratio == nullptr ? "the plan"
                                        : fmt::format("plan faster by {:.2f}x [{:.2f}, {:.2f}]", ratio->ratio.ratio,
                                                      ratio->ratio.low, ratio->ratio.high);
    const auto beyond = std::ranges::count_if(us, [this](double one_us) { return one_us > end_us_; });
    if (beyond > 0) note += fmt::format(", {} beyond", beyond);
    return note;
  }

  void text(double x, double y, std::string_view kind, std::string_view anchor, const std::string& words) {
    rows_ += fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                         kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), x, y, anchor, escaped(words));
  }

  std::string rows_;
  double y_ = 0;
  double end_us_ = 0;
};

}  // namespace

std::string plot_of(const std::vector<BenchReport>& reports) { return Plot().draw(reports); }

}  // namespace collage
