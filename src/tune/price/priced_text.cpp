#include "tune/price/priced_text.h"

#include <map>

#include <fmt/format.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "region/value_json.h"

namespace collage {
namespace {

/// Without the line's end.
std::string_view next_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

std::string head_of(const TuneTask& task, Registry& registry) {
  return "collage.priced/1 " + hash_hex(tune_question(task, registry));
}

Result<Cost> cost_in(std::string_view text, const std::string& file) {
  COLLAGE_TRY(const Json json, parse_json(text, file));
  return read_json(file, [&] { return cost_from(json); });
}

bool is_known(const Cost& cost) {
  return std::holds_alternative<Measured>(cost) || std::holds_alternative<Infeasible>(cost);
}

}  // namespace

std::string priced_text(const TuneTask& task, Registry& registry, const CandidatePool& pool,
                        const std::vector<Cost>& costs) {
  std::string text = head_of(task, registry) + "\n";
  const std::string candidates = to_text(task.graph(), pool);
  std::string_view rest = candidates;
  for (const Cost& cost : costs) text += fmt::format("{}\t{}\n", to_line(to_json(cost)), next_line(rest));
  return text;
}

Result<std::vector<Cost>> read_priced(const std::string& file, const TuneTask& task, Registry& registry,
                                      const CandidatePool& pool) {
  COLLAGE_TRY(const Buffer bytes, Buffer::map_file(file));
  const auto other = [&](std::string saw) {
    return fail(ExitCode::kBadInput, "tune/other-costs", file, std::move(saw),
                "what --dump priced wrote for this model on this machine");
  };
  std::string_view rest = bytes.text();
  if (next_line(rest) != head_of(task, registry)) return other("costs of another model, machine or set of backends");
  std::map<std::string, Cost, std::less<>> known;  // by candidate
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return other(std::string(line));
    COLLAGE_TRY(Cost cost, cost_in(line.substr(0, tab), file));
    if (is_known(cost)) known.emplace(line.substr(tab + 1), std::move(cost));
  }
  std::vector<Cost> costs;
  const std::string candidates = to_text(task.graph(), pool);
  std::string_view lines = candidates;
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    const auto found = known.find(next_line(lines));
    costs.push_back(found == known.end() ? Cost(Unknown{}) : found->second);
  }
  return costs;
}

}  // namespace collage
