// What a tuner does to its store, as a list of steps that can be done again with faults in between.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "store/store.h"

namespace collage::test {

struct StoreStep {
  enum class Act { kLease, kRelease, kCost, kArtifact, kVerdict, kRemove, kReopen };
  Act act = Act::kCost;
  std::string key;
  std::int64_t number = 0;  ///< of the cost
};

/// Costs, artifacts and verdicts by key, as a store should know them.
struct StoreContent {
  std::map<std::string, Cost> costs;
  std::map<std::string, std::string> artifacts;
  std::map<std::string, std::string> verdicts;
  bool operator==(const StoreContent&) const = default;
};

inline Cost cost_of(const StoreStep& step) {
  return Measured{.median_ns = step.number, .low_ns = step.number - 1, .high_ns = step.number + 1, .samples = 9};
}

inline void apply(const StoreStep& step, Store& store) {
  using Act = StoreStep::Act;
  if (step.act == Act::kLease)
    (void)store.take_leases(std::vector<std::string>{step.key, step.key + " b"}, std::chrono::seconds(60));
  if (step.act == Act::kRelease) store.release_leases();
  if (step.act == Act::kCost) store.put_cost(step.key, cost_of(step));
  if (step.act == Act::kArtifact) store.put_artifact(step.key, "hash of " + step.key);
  if (step.act == Act::kVerdict) store.put_verdict(step.key, "{\"number\":" + std::to_string(step.number) + "}");
  if (step.act == Act::kRemove) store.remove(step.key);
}

/// Whether the store still writes to its file, as far as it has said.
inline bool writes_to_file(const Store& store) {
  return std::ranges::none_of(store.warnings(),
                              [](const std::string& one) { return one.find("in memory only") != std::string::npos; });
}

/// The same to what the store should know.
inline void apply(const StoreStep& step, StoreContent& content) {
  using Act = StoreStep::Act;
  if (step.act == Act::kCost) content.costs[step.key] = cost_of(step);
  if (step.act == Act::kArtifact) content.artifacts[step.key] = "hash of " + step.key;
  if (step.act == Act::kVerdict) content.verdicts[step.key] = "{\"number\":" + std::to_string(step.number) + "}";
  if (step.act == Act::kRemove) {
    const auto names = [&](const auto& entry) { return entry.first.find(step.key) != std::string::npos; };
    std::erase_if(content.costs, names);
    std::erase_if(content.artifacts, names);
    std::erase_if(content.verdicts, names);
  }
}

/// A tune: leases, artifacts and costs of `jobs` jobs, with whatever else happens in between.
inline std::vector<StoreStep> scripted_tune(int jobs) {
  using Act = StoreStep::Act;
  std::vector<StoreStep> steps;
  for (int job = 0; job < jobs; ++job) {
    // About as long as real keys are; they come in no order.
    const std::string key = std::to_string(job * 7919 % 1000) + " job " + std::string(200, 'k') + std::to_string(job);
    steps.push_back({.act = Act::kLease, .key = key});
    steps.push_back({.act = Act::kArtifact, .key = key});
    steps.push_back({.act = Act::kCost, .key = key, .number = 1000 + job});
    if (job % 3 == 0) steps.push_back({.act = Act::kCost, .key = key + " b", .number = 2000 + job});
    steps.push_back({.act = Act::kRelease});
    if (job % 5 == 2) steps.push_back({.act = Act::kVerdict, .key = key, .number = job});
    if (job % 7 == 1) steps.push_back({.act = Act::kCost, .key = key, .number = 3000 + job});
    if (job % 16 == 4) steps.push_back({.act = Act::kRemove, .key = "k" + std::to_string(job - 3)});
    if (job % 20 == 3) steps.push_back({.act = Act::kReopen});
  }
  return steps;
}

}  // namespace collage::test
