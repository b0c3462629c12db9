#include "cli/progress_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace collage::cli {
namespace {

constexpr std::size_t kBarWidth = 24;

std::string bar(const ProgressEvent& event) {
  const std::size_t filled = kBarWidth * std::min(event.done, event.total) / event.total;
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "]";
}

}  // namespace

std::string time_left_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s left", seconds);
  return fmt::format("{:.0f} min left", seconds / 60);
}

std::string counts_text(const ProgressEvent& event) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (event.total > 0) {
    add(fmt::format("{}/{}", event.done, event.total));
    if (event.refused > 0) add(fmt::format("{} refused", event.refused));
    if (event.total > event.done) add(fmt::format("{} left", event.total - event.done));
  }
  if (event.best_us > 0) add(fmt::format("best {:.1f} us", event.best_us));
  if (!event.rival.empty()) add(fmt::format("{:.2f}x of {}", event.speedup, event.rival));
  if (event.best_us > 0 && event.bound_us > 0)
    add(fmt::format("proven within {:.0f} %", 100 * std::max(0.0, 1 - event.bound_us / event.best_us)));
  if (event.left_s) add(time_left_text(*event.left_s));
  return text;
}

std::string bar_text(const ProgressEvent& event, std::size_t columns) {
  std::string text = fmt::format("{:<9}", event.phase);
  if (event.total > 0) text += " " + bar(event);
  if (const std::string counts = counts_text(event); !counts.empty()) text += " " + counts;
  return text.substr(0, columns);
}

std::string line_text(const ProgressEvent& event) {
  const std::string counts = counts_text(event);
  return counts.empty() ? event.phase : event.phase + " " + counts;
}

}  // namespace collage::cli
