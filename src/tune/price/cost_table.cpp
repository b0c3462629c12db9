#include "tune/price/cost_table.h"

#include <fmt/format.h>

#include "base/clock.h"

namespace collage {
namespace {

std::string text_of(const Cost& cost) {
  if (const auto* m = std::get_if<Measured>(&cost))
    return fmt::format("{:.1f} [{:.1f}, {:.1f}]", to_us(m->median_ns), to_us(m->low_ns), to_us(m->high_ns));
  if (const auto* e = std::get_if<Estimated>(&cost)) return fmt::format("~{:.1f}", to_us(e->ns));
  if (const auto* no = std::get_if<Infeasible>(&cost))
    return fmt::format("{}: {}", name_of(no->refusal.reason), no->refusal.detail);
  return "?";
}

}  // namespace

std::string cost_table(const Graph& graph, const CandidatePool& pool, const std::vector<Cost>& costs) {
  const std::string lines = to_text(graph, pool);
  std::string text;
  std::size_t begin = 0;
  for (const Cost& cost : costs) {
    const std::size_t end = lines.find('\n', begin);
    text += fmt::format("{:<28} {}\n", text_of(cost), lines.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

}  // namespace collage
