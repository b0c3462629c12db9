#include "store/store_tools.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/hash.h"
#include "region/value_json.h"
#include "store/artifact_file.h"
#include "store/keys.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCostSchema = "collage.cost/2";
constexpr const char* kFirstCostSchema = "collage.cost/1";

std::string checksum_of(const std::string& key, const Json& cost, const Json& of) {
  return hash_hex(key + to_line(cost) + (of.is_null() ? "" : to_line(of)));
}

Json line_of(const FoundCost& found) {
  const Json cost = to_json(found.cost);
  const Json of = found.facts ? to_json(*found.facts) : Json();
  return {{"schema", kCostSchema},
          {"key", found.key},
          {"cost", cost},
          {"of", of},
          {"checksum", checksum_of(found.key, cost, of)}};
}

struct Line {
  std::string key;
  Cost cost;
  std::optional<RegionFacts> facts;
};

std::optional<Line> line_from(const std::string& text) {
  const auto json = parse_json(text, "line of costs");
  if (!json) return std::nullopt;
  auto line = read_json("line of costs", [&]() -> std::optional<Line> {
    const bool is_first = json->at("schema") == kFirstCostSchema;
    if (!is_first && json->at("schema") != kCostSchema) return std::nullopt;
    const std::string key = json->at("key");
    const Json of = is_first ? Json() : json->at("of");
    if (json->at("checksum") != checksum_of(key, json->at("cost"), of)) return std::nullopt;
    return Line{.key = key,
                .cost = cost_from(json->at("cost")),
                .facts = of.is_null() ? std::nullopt : std::optional(facts_from(of))};
  });
  return line ? *line : std::nullopt;
}

void add(Store& store, const std::string& key, const Cost& cost, ImportCounts& counts) {
  if (store.cost(key)) {
    ++counts.known;
    return;
  }
  store.put_cost(key, cost);
  ++counts.added;
}

/// Descriptions of regions that the store does not have.
void add(Store& store, const std::map<std::string, std::string>& regions) {
  std::vector<std::pair<std::string, std::string>> unknown;
  for (const auto& [key, text] : regions)
    if (!store.region(key)) unknown.emplace_back(key, text);
  if (!unknown.empty()) store.put_regions(unknown);
}

std::set<std::string> named_files(Store& store) {
  std::set<std::string> names;
  for (const auto& [key, hash] : store.artifacts_like("")) names.insert(hash);
  return names;
}

std::vector<fs::directory_entry> files_of(const Store& store) {
  std::vector<fs::directory_entry> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(store.artifact_folder(), error))
    if (entry.is_regular_file(error)) files.push_back(entry);
  return files;
}

}  // namespace

StoreStats stats_of(Store& store) {
  StoreStats stats{.counts = store.counts()};
  for (const auto& [key, cost] : store.costs_like("")) {
    if (std::holds_alternative<Infeasible>(cost)) ++stats.refused;
    ++stats.backends[field_of(key, "backend")];
    ++stats.machines[field_of(key, "machine")];
  }
  for (const auto& file : files_of(store)) {
    std::error_code error;
    const auto bytes = file.file_size(error);
    ++stats.files;
    if (!error) stats.file_bytes += bytes;
  }
  return stats;
}

std::string export_costs(const std::vector<FoundCost>& costs) {
  std::string lines;
  for (const FoundCost& found : costs) lines += to_line(line_of(found)) + "\n";
  return lines;
}

ImportCounts import_costs(Store& store, std::string_view lines) {
  ImportCounts counts;
  std::map<std::string, std::string> regions;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view text = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (text.empty()) continue;
    const auto line = line_from(std::string(text));
    if (!line) {
      ++counts.skipped;
      continue;
    }
    add(store, line->key, line->cost, counts);
    if (line->facts && line->key.starts_with("region="))
      regions.emplace(region_in(line->key), to_line(to_json(*line->facts)));
  }
  add(store, regions);
  return counts;
}

ImportCounts merge_costs(Store& into, Store& from) {
  ImportCounts counts;
  for (const auto& [key, cost] : from.costs_like("")) add(into, key, cost, counts);
  std::map<std::string, std::string> regions;
  for (auto& [key, text] : from.regions()) regions.emplace(key, text);
  add(into, regions);
  return counts;
}

FileCounts remove_unnamed_files(Store& store) {
  const std::set<std::string> named = named_files(store);
  FileCounts counts;
  for (const auto& file : files_of(store)) {
    if (named.contains(file.path().filename().string())) continue;
    std::error_code error;
    const auto bytes = file.file_size(error);
    if (!fs::remove(file.path(), error) || error) continue;
    ++counts.removed;
    counts.removed_bytes += bytes;
  }
  return counts;
}

FileCheck check_files(Store& store) {
  FileCheck check;
  for (const std::string& name : named_files(store)) {
    const auto file = Buffer::map_file(store.artifact_folder() + "/" + name);
    if (!file)
      ++check.missing;
    else if (!is_content_of(name, file->bytes()))
      ++check.damaged;
  }
  return check;
}

std::vector<NearMiss> near_misses(Store& store, std::string_view key, std::size_t count) {
  const auto wanted = fields_of(key);
  if (wanted.empty()) return {};
  std::vector<NearMiss> found;
  for (const auto& [stored, cost] : store.costs_like(wanted.front().first + "=" + wanted.front().second)) {
    NearMiss miss{.key = stored, .differences = {}};
    for (const auto& [field, value] : wanted)
      if (const std::string other = field_of(stored, field); other != value)
        miss.differences.push_back({.field = field, .wanted = value, .stored = other});
    found.push_back(std::move(miss));
  }
  std::ranges::stable_sort(found, {}, [](const NearMiss& miss) { return miss.differences.size(); });
  found.resize(std::min(found.size(), count));
  return found;
}

}  // namespace collage
