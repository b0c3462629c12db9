#include "cli/commands/cost_list.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/wrap.h"
#include "region/value_json.h"
#include "store/keys.h"

namespace collage::cli {
namespace {

constexpr std::string_view kNotKnown = "(kept by an older version, which did not say of what)";

std::string cut(std::string text) {
  text = on_one_line(std::move(text));
  if (text.size() <= kColumns) return text;
  std::size_t end = kColumns - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not inside a character
  return text.substr(0, end) + "...";
}

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

std::string time_text(const Cost& cost) {
  if (const auto* measured = std::get_if<Measured>(&cost))
    return fmt::format("{:.1f} us", microseconds(measured->median_ns));
  if (const auto* estimated = std::get_if<Estimated>(&cost))
    return fmt::format("about {:.1f} us", microseconds(estimated->ns));
  return std::holds_alternative<Infeasible>(cost) ? "refused" : "unknown";
}

std::string cost_text(const Cost& cost) {
  if (const auto* measured = std::get_if<Measured>(&cost))
    return fmt::format("{:.1f} us [{:.1f}, {:.1f}], {} samples", microseconds(measured->median_ns),
                       microseconds(measured->low_ns), microseconds(measured->high_ns), measured->samples);
  if (const auto* refused = std::get_if<Infeasible>(&cost))
    return fmt::format("refused, {}: {}", name_of(refused->refusal.reason), refused->refusal.detail);
  return time_text(cost);
}

std::string shapes_text(const RegionFacts& facts) {
  return fmt::format("{} -> {}", fmt::join(facts.inputs, ", "), fmt::join(facts.outputs, ", "));
}

/// What costs are listed under: the region, or the conversion.
std::string title_of(const FoundCost& found) {
  if (found.facts)
    return cut(fmt::format("{}  {}  {}: {}", found.operators, shapes_text(*found.facts), found.facts->model,
                           fmt::join(found.facts->nodes, ", ")));
  const std::string region = region_in(found.key);
  if (!region.empty()) return fmt::format("{} {}", region, kNotKnown);
  return cut(fmt::format("{}  {} {} -> {}", kConversionOperators, field_of(found.key, "convert"),
                         field_of(found.key, "from"), field_of(found.key, "to")));
}

using Fields = std::map<std::string, std::string>;
using Differing = std::set<std::string>;

/// The fields of keys in which costs of one variant differ.
Differing differing(std::span<const FoundCost> costs) {
  Differing names;
  std::map<std::string, Fields> firsts;
  for (const FoundCost& found : costs) {
    const Fields fields = fields_by_name(found.key);
    const Fields& first = firsts.emplace(found.backend + ' ' + found.variant, fields).first->second;
    std::vector<Fields::value_type> different;
    std::ranges::set_symmetric_difference(fields, first, std::back_inserter(different));
    for (const auto& [name, value] : different) names.insert(name);
  }
  return names;
}

std::string line_of(const FoundCost& found, const Differing& shown) {
  std::string line = fmt::format("{:>13}  {}{}{}", time_text(found.cost), found.backend,
                                 found.variant.empty() ? "" : "/", found.variant);
  for (const std::string& name : shown)
    if (const std::string value = field_of(found.key, name); !value.empty())
      line += fmt::format("  {}={}", name, value);
  if (const auto* refused = std::get_if<Infeasible>(&found.cost))
    line += fmt::format("  {}: {}", name_of(refused->refusal.reason), refused->refusal.detail);
  return cut(line);
}

std::string field_line(std::string_view name, std::string value) {
  return fmt::format("{:<10} {}\n", name, on_one_line(std::move(value)));
}

}  // namespace

std::string list_text(std::span<const FoundCost> costs) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < costs.size(); begin = end) {
    const std::string subject = subject_in(costs[begin].key);
    while (end < costs.size() && subject_in(costs[end].key) == subject) ++end;
    text += title_of(costs[begin]) + "\n";
    const auto group = costs.subspan(begin, end - begin);
    const Differing shown = differing(group);
    for (const FoundCost& found : group) text += line_of(found, shown) + "\n";
  }
  return text;
}

std::string record_text(const FoundCost& found, const std::optional<Samples>& samples) {
  std::string text = field_line("key", found.key);
  if (!found.operators.empty()) text += field_line("operators", found.operators);
  if (found.facts) {
    text += field_line("shapes", shapes_text(*found.facts));
    text += field_line("constants", fmt::format("{}", fmt::join(found.facts->constants, ", ")));
    text += field_line("model", found.facts->model);
    text += field_line("nodes", fmt::format("{}", fmt::join(found.facts->nodes, ", ")));
  }
  for (const auto& [field, value] : fields_of(found.key)) text += field_line(field, value);
  text += field_line("cost", cost_text(found.cost));
  if (samples) text += field_line("samples", fmt::format("{} ns", fmt::join(samples->ns, " ")));
  if (samples && samples->warm_ns > 0) text += field_line("warm", fmt::format("{} ns", samples->warm_ns));
  return text + "\n";
}

nlohmann::ordered_json to_json(const FoundCost& found, const std::optional<Samples>& samples) {
  nlohmann::ordered_json record = {
      {"key", found.key},         {"operators", found.operators},         {"backend", found.backend},
      {"variant", found.variant}, {"cost", collage::to_json(found.cost)}, {"of", nullptr}};
  if (found.facts) record["of"] = collage::to_json(*found.facts);
  if (samples) {
    record["samples_ns"] = samples->ns;
    record["warm_ns"] = samples->warm_ns;
  }
  return record;
}

}  // namespace collage::cli
